import Foundation
import GRDB
import Logging
import NotificationDelivery
import NotificationModel
import Synchronization
import Testing
import TestSupport

@testable import NotificationConsumer

/// A directory on a disk that a test fills.
final class TestDisk: Sendable {
    let directory: String
    let log = CollectedLog()
    /// The maximum number of pages of a file that is opened now.
    private let pages = Mutex<Int?>(nil)

    init(_ directory: String) { self.directory = directory }

    /// Simulates a disk without room for another page.
    var isFull: Bool {
        get { pages.withLock { $0 != nil } }
        set { pages.withLock { $0 = newValue ? 1 : nil } }
    }

    func open(
        _ change: (inout SQLiteEntryStore.Limits) -> Void = { _ in },
        clock: @escaping @Sendable () -> Timestamp = { storeTime }
    ) -> StoreDisk {
        var limits = SQLiteEntryStore.Limits()
        limits.retryInterval = .milliseconds(5)
        limits.maximumPages = { [self] in pages.withLock { $0 } }
        change(&limits)
        return StoreDisk(
            directory: directory,
            topic: "carillon.requests",
            cluster: "c1",
            limits: limits,
            clock: clock,
            logger: log.logger
        )
    }
}

/// The lane's clock, and its turns.
private struct Turns {
    private(set) var now = ContinuousClock.now

    mutating func turn(_ store: DiskEntryStore, times: Int) throws {
        var left = times
        try turn(store) {
            left -= 1
            return left < 0
        }
    }

    /// Runs turns, one per second, until the condition holds.
    mutating func turn(_ store: DiskEntryStore, until condition: () throws -> Bool) throws {
        let deadline = ContinuousClock.now + .seconds(300)
        while try !condition() {
            try #require(ContinuousClock.now < deadline)
            now += .seconds(1)
            store.tend(at: now)
            usleep(1000)
        }
    }
}

struct DiskEntryStoreTests {
    private func withDisk(_ body: (TestDisk) throws -> Void) throws {
        try withDirectory { try body(TestDisk($0)) }
    }

    private func limitPages(of store: DiskEntryStore, to pages: Int) throws {
        try #require(store.file?.behind).connection.inDatabase {
            try $0.execute(sql: "PRAGMA max_page_count = \(pages)")
        }
    }

    /// The contents of the file after everything is closed.
    private func contents(_ disk: TestDisk) throws -> (position: StorePosition?, counts: StoreCounts) {
        let store = try openStore(in: disk.directory, bootID: SQLiteEntryStore.currentBootID()).store
        defer { store.close(flushing: false) }
        return (store.position, store.counts)
    }

    @Test
    func `if the disk is full when a file is created, the store works from memory and returns when there is room`()
        throws
    {
        try withDisk { disk in
            disk.isFull = true
            let shared = disk.open()
            let store = try DiskEntryStore(shared, 3)
            #expect(store.trouble?.contains("full") == true, "\(store.trouble ?? "none")")
            #expect(store.position == nil)
            try store.write((0..<3000).map { change("shop/r\($0)/i", due: Int64($0)) }, position: position(9))
            try store.flush()
            #expect(store.unwritten == 0)
            #expect(store.counts == StoreCounts(entries: 3000, pending: 3000))
            #expect(store.memoryBytes > 3000)
            var turns = Turns()
            // It retries, and continues.
            try turns.turn(store, times: 50)
            #expect(store.trouble?.contains("full") == true)
            #expect(try store.value("shop/r7/i") == "v")

            disk.isFull = false
            try turns.turn(store) { store.trouble == nil }
            #expect(store.memoryBytes == 0)
            #expect(try store.value("shop/r7/i") == "v")
            #expect(store.position == position(9))
            try store.write([change("shop/r7/i", nil), change("shop/new/i")], position: position(12))
            store.close(flushing: true)
            let found = try contents(disk)
            #expect(found.position == position(12))
            #expect(found.counts == StoreCounts(entries: 3000, pending: 2999))
            #expect(disk.log.lines(.warning).count == 1)
            #expect(disk.log.lines(.notice).contains { $0.contains("written to disk again") })
        }
    }

    @Test func `changes during the return to the disk are in the file, and an incomplete copy is not used`() throws {
        try withDisk { disk in
            disk.isFull = true
            let store = try DiskEntryStore(disk.open { $0.batchSize = 500 }, 3)
            try store.write((0..<5000).map { change("shop/r\($0)/i") }, position: position(9))
            disk.isFull = false
            var turns = Turns()
            try turns.turn(store) { store.file?.counts.entries ?? 0 >= 1000 }
            // A crash now leaves a file marked as incomplete.
            let copy = "\(disk.directory)/copy"
            try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: true)
            for suffix in ["", "-wal"] {
                let name = "carillon.requests-3.sqlite\(suffix)"
                try FileManager.default.copyItem(atPath: "\(disk.directory)/\(name)", toPath: "\(copy)/\(name)")
            }
            let torn = try openStore(in: copy, bootID: SQLiteEntryStore.currentBootID()).store
            #expect(torn.position == nil)
            torn.close(flushing: false)
            // Copied and not yet copied entries, changed and deleted.
            try store.write(
                [
                    change("shop/r1/i", nil), change("shop/r2/i", "2"), change("shop/r4998/i", "4998"),
                    change("shop/r4999/i", nil), change("shop/more/i", "more"),
                ],
                position: position(10)
            )
            try turns.turn(store) { store.trouble == nil }
            #expect(store.position == position(10))
            for (key, value) in [("r1", nil), ("r2", "2"), ("r4998", "4998"), ("r4999", nil), ("more", "more")] {
                #expect(try store.value("shop/\(key)/i") == value)
            }
            store.close(flushing: true)
            #expect(try contents(disk) == (position(10), StoreCounts(entries: 4999, pending: 0)))
        }
    }

    @Test func `if the disk fills up while entries return to it, the store works from memory again`() throws {
        try withDisk { disk in
            disk.isFull = true
            let store = try DiskEntryStore(disk.open { $0.batchSize = 500 }, 3)
            try store.write((0..<5000).map { change("shop/r\($0)/i") }, position: position(9))
            disk.isFull = false
            var turns = Turns()
            try turns.turn(store) { store.file != nil }
            try limitPages(of: store, to: 20)
            try turns.turn(store) { store.file == nil }
            #expect(store.trouble?.contains("full") == true)
            #expect(store.counts.entries == 5000)
            // Its disk space is released.
            let file = "\(disk.directory)/carillon.requests-3.sqlite"
            disk.isFull = true
            try waitUntil { !FileManager.default.fileExists(atPath: file) }
            disk.isFull = false
            try turns.turn(store) { store.trouble == nil }
            store.close(flushing: true)
            #expect(try contents(disk).counts.entries == 5000)
        }
    }

    @Test func `a file that cannot be flushed moves to memory, with all written and unwritten entries`() throws {
        try withDisk { disk in
            let store = try DiskEntryStore(disk.open(), 3)
            try store.write([change("shop/old/i", "1"), change("shop/gone/i")], position: position(1))
            try store.flush()
            #expect(store.trouble == nil)
            try limitPages(of: store, to: 20)
            let value = String(repeating: "x", count: 500)
            try store.write(
                (0..<1000).map { change("shop/r\($0)/i", value, due: 5) } + [change("shop/gone/i", nil)],
                position: position(2)
            )
            try store.flush()
            #expect(store.trouble?.contains("full") == true)
            #expect(store.unwritten == 0)
            #expect(store.position == position(2))
            #expect(store.counts == StoreCounts(entries: 1001, pending: 1000))
            #expect(try store.value("shop/old/i") == "1")
            #expect(try store.value("shop/gone/i") == nil)
            #expect(try store.allDue(limit: 100).count == 1000)
            var turns = Turns()
            try turns.turn(store) { store.trouble == nil }
            store.close(flushing: true)
            #expect(try contents(disk) == (position(2), StoreCounts(entries: 1001, pending: 1000)))
        }
    }

    @Test func `if a discarded file cannot be created again, the store works from memory`() throws {
        try withDisk { disk in
            let store = try DiskEntryStore(disk.open(), 3)
            try store.write([change("shop/old/i", "1")], position: position(1))
            try store.flush()
            disk.isFull = true
            try store.discard()
            #expect(store.trouble?.contains("full") == true)
            #expect(store.position == nil && store.counts == StoreCounts())
            try store.write([change("shop/new/i")], position: position(2))
            disk.isFull = false
            var turns = Turns()
            try turns.turn(store) { store.trouble == nil }
            try store.discard()
            #expect(store.position == nil && store.counts == StoreCounts())
            store.close(flushing: false)
        }
    }

    @Test func `a file that is repeatedly found damaged is not used immediately`() throws {
        try withDisk { disk in
            let shared = disk.open()
            func damage() throws {
                let store = try DiskEntryStore(shared, 3)
                try #require(store.file?.behind).noteDamage("a test")
                store.close(flushing: false)
            }
            try damage()
            // The first time it is restored from the changelog to a new file.
            try damage()
            let store = try DiskEntryStore(shared, 3)
            #expect(store.trouble?.contains("damaged twice") == true, "\(store.trouble ?? "none")")
            try store.write([change("shop/new/i")], position: position(2))
            var turns = Turns()
            try turns.turn(store) { store.trouble == nil }
            store.close(flushing: true)
            #expect(try contents(disk).counts.entries == 1)
        }
    }

    @Test func `an error in the settings prevents the start, but not after the directory has worked once`() throws {
        try withDisk { disk in
            _ = FileManager.default.createFile(atPath: disk.directory, contents: Data("a file".utf8))
            let shared = disk.open()
            #expect { _ = try DiskEntryStore(shared, 3) } throws: {
                ($0 as? EntryStoreError)?.isOfConfiguration == true
            }
            try FileManager.default.removeItem(atPath: disk.directory)
            try DiskEntryStore(shared, 3).close(flushing: true)
            try FileManager.default.removeItem(atPath: disk.directory)
            _ = FileManager.default.createFile(atPath: disk.directory, contents: Data("a file".utf8))
            let store = try DiskEntryStore(shared, 3)
            #expect(store.trouble?.contains(disk.directory) == true)
            try FileManager.default.removeItem(atPath: disk.directory)
            var turns = Turns()
            try turns.turn(store) { store.trouble == nil }
            store.close(flushing: false)
        }
    }

    @Test(arguments: [
        (ENOSPC, false), (EDQUOT, false), (EIO, false), (EROFS, false), (EMFILE, false), (EFBIG, false),
        (EACCES, true), (EPERM, true), (ENOTDIR, true), (EISDIR, true), (ENOENT, true),
    ])
    func `permissions and file types are errors in the settings, the state of a disk is not`(
        code: Int32,
        isMistake: Bool
    ) {
        let error = EntryStoreError.failed("/a cannot be made", errno: code)
        #expect(error.isOfConfiguration == isMistake)
        #expect("\(error)".contains("store.directory: /a cannot be made"))
    }

    @Test(arguments: 0..<4 as Range<UInt64>)
    func `it agrees with a dictionary, also if the disk is repeatedly full`(seed: UInt64) throws {
        try withDisk { disk in
            var random = SeededGenerator(seed: seed)
            var model = StoreModel(seed: seed)
            var turns = Turns()
            let shared = disk.open { $0.batchSize = 20 }
            disk.isFull = seed % 2 == 0
            let store = try DiskEntryStore(shared, 3)
            for step in 0..<120 {
                try model.write(to: store)
                #expect(try model.difference(from: store) == nil, "step \(step)")
                switch Int.random(in: 0..<12, using: &random) {
                case 0:
                    disk.isFull = true
                    if store.file != nil { try limitPages(of: store, to: 1) }
                case 1:
                    disk.isFull = false
                    if store.file != nil { try limitPages(of: store, to: 1_000_000) }
                case 2:
                    try store.flush()
                    #expect(store.counts == model.counts, "flushed, step \(step)")
                case 3...5: try turns.turn(store, times: 5)
                default: break
                }
                #expect(try model.difference(from: store) == nil, "step \(step)")
            }
            disk.isFull = false
            if store.file != nil { try limitPages(of: store, to: 1_000_000) }
            try turns.turn(store) { store.trouble == nil }
            try store.flush()
            #expect(store.counts == model.counts)
            store.close(flushing: true)
            #expect(try contents(disk).counts == model.counts)
        }
    }

    @Test func `it reports the disk space of the files after the last batch`() throws {
        try withDisk { disk in
            let writers = StoreWriters()
            let store = try DiskEntryStore(disk.open { $0.writers = writers }, 3)
            try waitUntil { writers.diskBytes > 4096 }
            let before = writers.diskBytes
            let value = String(repeating: "x", count: 1000)
            try store.write((0..<1000).map { change("shop/r\($0)/i", value) }, position: position(2))
            try store.flush()
            try waitUntil { writers.diskBytes >= before + 1_000_000 }
            store.close(flushing: true)
            try waitUntil { writers.diskBytes == 0 }
        }
    }
}

struct ParkedStoresTests {
    private let start = ContinuousClock.now

    private func store(bytes: Int) -> MemoryEntryStore {
        let store = MemoryEntryStore()
        store.write([change("shop/a/1", String(repeating: "x", count: bytes))], position: position(1))
        return store
    }

    @Test func `a partition that returns soon finds its entries, and one that returns late does not`() throws {
        let parked = ParkedStores()
        let stores = MemoryEntryStores(parked: parked)
        for partition in 0..<2 as Range<Int32> {
            stores.giveBack(store(bytes: 100), of: partition, at: start)
        }
        #expect(parked.bytes > 200)
        stores.tend(at: start + ParkedStores.patience - .seconds(1))
        #expect(try stores.take(0).counts.entries == 1)
        stores.tend(at: start + ParkedStores.patience)
        #expect(parked.bytes == 0)
        #expect(try stores.take(1).counts.entries == 0)
    }

    @Test func `above the limit the partition that left first is dropped, but not during a revocation`() throws {
        let half = 10_000
        let parked = ParkedStores(maximumBytes: 2 * half)
        for partition in 0..<3 as Range<Int32> {
            parked.park(store(bytes: half), of: partition, at: start + .seconds(Int(partition)))
        }
        parked.tend(at: start + ParkedStores.grace - .seconds(1))
        #expect(parked.bytes >= 3 * half)
        parked.tend(at: start + ParkedStores.grace + .seconds(1))
        // The fixed size of the second store keeps the sum above the limit.
        #expect(parked.bytes < 2 * half)
        #expect(parked.take(0) == nil && parked.take(1) == nil)
        #expect(parked.take(2)?.counts.entries == 1)
    }

    @Test func `all stores together have one time to close`() throws {
        let parked = ParkedStores()
        let stores = (0..<3).map { _ in StuckStore(StuckStores()) }
        for (partition, store) in stores.enumerated() { parked.park(store, of: Int32(partition), at: start) }
        parked.closeAll()
        let deadlines = Set(stores.map(\.closing))
        #expect(deadlines.count == 1)
        let deadline = try #require(deadlines.first ?? nil)
        #expect(deadline - .now <= ParkedStores.closing)
    }

    @Test func `the memory of entries is counted, and released`() {
        let store = MemoryEntryStore()
        let empty = store.memoryBytes
        store.write([change("shop/a/1", "1234"), change("shop/a/2", "5")], position: position(1))
        let two = store.memoryBytes
        store.write([change("shop/a/1", "12345678")], position: position(2))
        #expect(store.memoryBytes == two + 4)
        store.write([change("shop/a/1", nil)], position: position(3))
        store.write([change("shop/a/2", nil)], position: position(4))
        #expect(store.memoryBytes == empty && empty == 0)
    }

    @Test func `a file stays open, however long the partition is away`() throws {
        try withDirectory { directory in
            let disk = TestDisk(directory).open()
            let stores = DiskEntryStores(disk)
            let first = try stores.take(3)
            try first.write([change("shop/a/1")], position: position(1))
            stores.giveBack(first, of: 3, at: start)
            stores.tend(at: start + .seconds(86_400))
            #expect(try stores.take(3) === first)
            stores.giveBack(first, of: 3, at: start)
            stores.closeAll()
            let again = try stores.take([3])
            #expect(again[3]?.position == position(1))
            again[3]?.close(flushing: false)
        }
    }
}
