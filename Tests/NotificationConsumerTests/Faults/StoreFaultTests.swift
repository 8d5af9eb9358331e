import Foundation
import Kafka
import LocalBroker
import Logging
import NotificationModel
import ServiceSupport
import Synchronization
import Testing
import TestSupport

@testable import NotificationConsumer

/// A full disk while lanes work.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct StoreFaultTests {
    @Test func `at the limit of unwritten changes reading pauses, and timers still fire`() async throws {
        let kafka = try FaultBroker()
        let stores = StuckStores()
        let lanes = TestLanes(kafka, .atLeastOnce, stores: stores)
        try await lanes.run {
            try await kafka.publish([kafka.request("first")])
            try await eventually("lanes work") { try await !kafka.events(.delivered).isEmpty }
            try await kafka.publish([kafka.request("soon", interval: 15)])
            try await eventually("it is read") { try await !kafka.events(.scheduled).isEmpty }
            stores.isStuck.store(true, ordering: .sequentiallyConsistent)
            try await eventually("it says why") {
                lanes.health.notReady.contains { $0.why.contains("is full; reading is paused") }
            }
            try await kafka.publish([kafka.request("now")])
            try await eventually("the timer fires") { try await kafka.events(.delivered).count > 1 }
            #expect(Set(try await kafka.events(.delivered).map(\.request)) == [id("first"), id("soon")])
            stores.isStuck.store(false, ordering: .sequentiallyConsistent)
            try await eventually("reading goes on") { try await kafka.events(.delivered).count == 3 }
            #expect(lanes.health.notReady.isEmpty)
        }
        #expect(lanes.ends.isEmpty)
        await kafka.broker.shutDown()
    }

    @Test
    func
        `a lane starts with a full disk, is ready with a remark, returns to the disk when there is room, and restarts from it`()
        async throws
    {
        let kafka = try FaultBroker()
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("carillon-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        let disk = TestDisk(directory.path)
        disk.isFull = true
        let stores = DiskEntryStores(disk.open(clock: SystemClock.now))
        let lanes = TestLanes(kafka, .atLeastOnce, stores: stores)
        try await lanes.run {
            try await kafka.publish([kafka.request("late", interval: 86_400), kafka.request("now")])
            try await eventually("it works") { try await kafka.events(.delivered).count == 1 }
            try await eventually("it says so") { !lanes.health.remarks.isEmpty }
            #expect(lanes.health.notReady.isEmpty)
            #expect(lanes.health.remarks.first?.why.contains("full") == true, "\(lanes.health.remarks)")
            #expect(lanes.status.snapshot.troubledStores == 4)
            disk.isFull = false
            try await eventually("it is back on disk") { lanes.health.remarks.isEmpty }
            #expect(lanes.status.snapshot.troubledStores == 0)
            try await kafka.publish([kafka.request("later", interval: 86_400)])
            try await eventually("both are pending") { lanes.status.snapshot.pending == 2 }
        }
        stores.closeAll()
        #expect(lanes.ends.isEmpty)
        // From the files: only later changes are read from the changelog.
        let log = disk.log
        let again = TestLanes(kafka, .atLeastOnce, stores: DiskEntryStores(disk.open(clock: SystemClock.now)))
        try await again.run {
            try await eventually("both are pending") { again.status.snapshot.pending == 2 }
        }
        #expect(!log.lines(.notice).contains { $0.contains("read from its beginning") }, "\(log.lines(.notice))")
        await kafka.broker.shutDown()
    }
}

/// Stores in memory that can report many unwritten changes.
final class StuckStores: EntryStores {
    let isStuck = Atomic(false)

    func take(_ partition: Int32) throws -> any EntryStore { StuckStore(self) }
    func giveBack(_ store: any EntryStore, of partition: Int32, at now: ContinuousClock.Instant) {}
    func closeAll() {}
}

final class StuckStore: EntryStore {
    private let stores: StuckStores
    private let memory = MemoryEntryStore()
    /// Until when its closing may wait.
    private(set) var closing: ContinuousClock.Instant?

    init(_ stores: StuckStores) { self.stores = stores }

    private var isStuck: Bool { stores.isStuck.load(ordering: .sequentiallyConsistent) }
    var position: StorePosition? { memory.position }
    var counts: StoreCounts { memory.counts }
    var unwritten: Int { isStuck ? 10_000_000 : 0 }
    var trouble: String? { isStuck ? "database or disk is full" : nil }
    func entry(of key: [UInt8]) throws -> StoredEntry? { memory.entry(of: key) }
    func entries(withPrefix prefix: [UInt8], after cursor: inout RecipientCursor, limit: Int) throws -> [StoredEntry] {
        memory.entries(withPrefix: prefix, after: &cursor, limit: limit)
    }
    func due(after cursor: inout DueCursor, through: Timestamp, limit: Int) throws -> [StoredEntry] {
        memory.due(after: &cursor, through: through, limit: limit)
    }
    func idle(limit: Int) throws -> [IdleEntry] { memory.idle(limit: limit) }
    func write(_ changes: [StoreChange], position: StorePosition) throws { memory.write(changes, position: position) }
    func flush() throws {}
    func discard() throws { memory.discard() }
    func close(flushing: Bool, by deadline: ContinuousClock.Instant?) {
        closing = deadline
        memory.close(flushing: flushing)
    }
}
