import TestSupport
import Testing

@testable import NotificationProducer

@Suite("Committable offsets")
struct OffsetTrackerTests {
    @Test("An offset is committable only when all earlier events are acknowledged")
    func lowWaterMark() {
        var tracker = OffsetTracker<Int32>()
        let first = tracker.begin(0, offset: 10, records: 2)
        let second = tracker.begin(0, offset: 11, records: 1)
        tracker.finish(0, offset: 12)
        #expect(tracker.committable().isEmpty)
        tracker.acknowledge(second)
        #expect(tracker.committable().isEmpty)
        tracker.acknowledge(first)
        #expect(tracker.committable().isEmpty)
        tracker.acknowledge(first)
        #expect(tracker.committable() == [0: 13])
        #expect(tracker.waiting == 0)
        tracker.committed([0: 13])
        #expect(tracker.committable().isEmpty)
        tracker.finish(0, offset: 20)
        #expect(tracker.committable() == [0: 21])
        #expect(tracker.lowWaterMarks() == [0: 21])
    }

    @Test("Partitions do not wait for each other")
    func partitions() {
        var tracker = OffsetTracker<Int32>()
        _ = tracker.begin(0, offset: 5, records: 1)
        tracker.finish(1, offset: 7)
        #expect(tracker.committable() == [1: 8])
        #expect(tracker.positions[0] == 6)
        #expect(tracker.uncommittable == 1)
    }

    @Test("A report for a partition that was revoked and assigned again commits nothing")
    func generations() {
        var tracker = OffsetTracker<Int32>()
        let old = tracker.begin(0, offset: 5, records: 1)
        tracker.drop([0])
        #expect(!tracker.isCurrent(old))
        let again = tracker.begin(0, offset: 5, records: 1)
        tracker.acknowledge(old)
        #expect(tracker.committable().isEmpty)
        #expect(tracker.event(of: again)?.offset == 5)
        tracker.acknowledge(again)
        #expect(tracker.committable() == [0: 6])
        #expect(tracker.waiting == 0)
    }

    @Test(
        "Every order of acknowledgements ends at the same mark and never passes an unacknowledged event",
        arguments: 0..<20
    )
    func anyOrder(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        var tracker = OffsetTracker<Int32>()
        var open: [(tag: UInt, offset: Int64)] = []
        var offset: Int64 = 0
        for _ in 0..<2_500 {
            if Bool.random(using: &random) || open.isEmpty {
                if Int.random(in: 0..<4, using: &random) == 0 {
                    tracker.finish(0, offset: offset)
                } else {
                    let records = Int.random(in: 1...3, using: &random)
                    let tag = tracker.begin(0, offset: offset, records: records)
                    for _ in 0..<records { open.append((tag, offset)) }
                }
                offset += Int64.random(in: 1...3, using: &random)
            } else {
                let done = open.remove(at: Int.random(in: 0..<open.count, using: &random))
                tracker.acknowledge(done.tag)
            }
            if offset % 5 == 0, let oldest = open.map(\.offset).min() {
                #expect(tracker.lowWaterMarks()[0] == oldest)
            }
        }
        for entry in open { tracker.acknowledge(entry.tag) }
        #expect(tracker.waiting == 0)
        #expect(tracker.uncommittable == 0)
        #expect(tracker.lowWaterMarks()[0] == tracker.positions[0])
    }

    @Test("After a reset a late report of an earlier event finishes none of the next")
    func lateReport() {
        var tracker = OffsetTracker<Int32>()
        let early = tracker.begin(0, offset: 3, records: 1)
        tracker.reset()
        #expect(tracker.waiting == 0 && tracker.lowWaterMarks().isEmpty)
        let next = tracker.begin(0, offset: 3, records: 1)
        tracker.acknowledge(early)
        #expect(!tracker.isCurrent(early) && tracker.event(of: early) == nil)
        #expect(tracker.waiting == 1 && tracker.committable().isEmpty)
        tracker.acknowledge(next)
        #expect(tracker.waiting == 0 && tracker.committable() == [0: 4])
    }
}
