import Foundation
import Kafka
import NotificationModel
import NotificationState
import ServiceSupport
import Testing

@testable import NotificationConsumer

/// Lanes that take over what was planned with other time zone data.
struct ZonesLaneTests {
    private let broker = MemoryBroker(partitions: 1)
    private let registry = PrometheusRegistry()

    /// A database in which `Test/Zone` has the rules of a zone of the system; for nil it is missing.
    private static func zones(_ version: String, _ name: String?) throws -> TimeZones {
        let folder = URL(fileURLWithPath: TimeZoneDatabase.systemDirectory)
        func file(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: folder.appending(path: name))) }
        var files = ["UTC": try file("UTC")]
        if let name { files["Test/Zone"] = try file(name) }
        return try TimeZones(TimeZoneDatabase(version: version, files: files))
    }

    /// The changelog of an owner with the rules of Berlin, in winter: what is daily at 9 waits for 8:00Z.
    private func fill(_ names: String...) throws {
        let zone = try Self.zones("old", "Europe/Berlin")
        let trigger = CalendarTrigger(dateComponents: .init(hour: 9), timeZone: "Test/Zone", repeats: true)
        for name in names {
            let schedule = try #require(try Schedule(.calendar(trigger), anchor: at(0), zones: zone))
            var entry = StateEntry()
            entry.touched = at(0)
            entry.pending = .init(
                requestID: id(name),
                content: content,
                expiration: nil,
                trace: .none,
                timer: .scheduled(schedule, occurrence: schedule.first),
                due: schedule.first
            )
            broker.state[0].records.append((key(name).encoded, entry.json))
        }
        let marker = StateMarker(
            offsets: [broker.topics.requests: 0],
            wallTime: at(0),
            partitions: 1,
            timeZoneDataVersion: "old",
            firedThrough: at(1000),
            lineage: "test"
        )
        broker.state[0].records.append((StateMarker.key, marker.json))
    }

    private func lane(_ zones: TimeZones) throws -> Lane<MemoryLink> {
        let lane = Lane.over(MemoryLink(broker), .atLeastOnce, registry: registry, zones: zones)
        try lane.start()
        return lane
    }

    private func lastMarker() throws -> StateMarker? {
        try broker.state[0].records.last { $0.key == StateMarker.key }?.value.map { try StateMarker(json: $0) }
    }

    private func lastEntry(_ name: String) throws -> StateEntry? {
        let value = broker.state[0].records.last { $0.key == key(name).encoded }?.value
        return try value.map { try StateEntry(json: $0, zones: nil) }
    }

    @Test func `what was planned with another version is planned again, and then the marker says so`() throws {
        try fill("a", "b")
        // At 9 in Moscow.
        let lane = try lane(Self.zones("new", "Europe/Moscow"))
        for _ in 0..<200 where try lastMarker()?.timeZoneDataVersion != "new" { try lane.turn() }
        #expect(try lastMarker()?.timeZoneDataVersion == "new")
        for name in ["a", "b"] {
            #expect(try lastEntry(name)?.due == Timestamp(rfc3339: "2027-01-16T06:00:00Z"))
        }
        lane.close()
    }

    @Test func `with the same version nothing is looked at, and nothing is written`() throws {
        try fill("a")
        let written = broker.state[0].high
        let lane = try lane(Self.zones("old", "Europe/Moscow"))
        for _ in 0..<20 { try lane.turn() }
        #expect(broker.state[0].high == written)
        lane.close()
    }

    @Test func `an entry whose zone is gone waits on, and is counted`() throws {
        try fill("a", "b")
        let lane = try lane(Self.zones("new", nil))
        for _ in 0..<200 where try lastMarker()?.timeZoneDataVersion != "new" { try lane.turn() }
        lane.context.metrics.flush()
        #expect(registry.exposition().contains("\ncarillon_schedule_zones_missing_total 2\n"))
        #expect(lane.missingZones == ["Test/Zone"])
        #expect(lane.owned[0]?.center.pendingCount == 2)
        #expect(try lastEntry("a")?.due == Timestamp(rfc3339: "2027-01-16T08:00:00Z"))
        lane.close()
    }
}
