import NotificationModel
import Testing

@testable import NotificationConsumer

/// Without transactions a paused owner may write to the changelog at the same time as its successor.
struct InterleavedChangelogTests {
    /// Commits one pending request whose entry and marker are at the end of a changelog of 20 records, with so many records of
    /// another owner between.
    private func commit(foreign: Int64, stateEnd: Int64?) throws -> PartitionCenter {
        let partition = OwnedPartition(
            center: Bench().center,
            inputs: .at(10),
            lineage: "l",
            stateEnd: stateEnd,
            firedThrough: nil,
            hasMarker: true
        )
        _ = try partition.center.apply(request("a", interval(60)).placed(at: 10), at: at(0))
        var room = Int.max
        _ = partition.takeCut(
            topics: TopicNames(),
            partitions: 1,
            timeZoneDataVersion: "",
            at: at(0),
            all: false,
            room: &room
        )
        #expect(partition.changes.count == 1)
        let result = Result { try partition.commit(markerAt: 21 + foreign, at: at(0)) }
        if foreign > 0, stateEnd != nil {
            #expect(throws: LaneEnd.changelogInterleaved) { try result.get() }
        } else {
            try result.get()
        }
        return partition.center
    }

    @Test func `the store gets the offset after the marker if only the cut's records precede it`() throws {
        #expect(try commit(foreign: 0, stateEnd: 20).store.position?.offset == 22)
    }

    @Test func `with records of another owner in between, the lane ends and the store does not change`() throws {
        let center = try commit(foreign: 1, stateEnd: 20)
        #expect(center.store.position == nil && center.store.counts.entries == 0)
    }

    @Test func `with transactions control records use offsets, and the fence excludes other owners`() throws {
        #expect(try commit(foreign: 1, stateEnd: nil).store.position?.offset == 23)
    }
}
