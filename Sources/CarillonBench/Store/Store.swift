import ArgumentParser
import Foundation
import NotificationConsumer
import NotificationModel

/// `carillon-bench store`.
struct StoreCommand: BenchmarkCommand {
    static let configuration = CommandConfiguration(
        commandName: "store",
        abstract: "The cost of pending notifications on disk and in memory.",
        discussion: """
            Pending entries of about 450 bytes are inserted into the store of one partition as by the consumer \
            service; then it is closed and reopened, and all due entries are read in order. No broker is involved.

            Example: carillon-bench store --entries 1000000
            """
    )

    @Option(help: "Pending entries.")
    var entries = 1_000_000
    @OptionGroup var common: CommonOptions

    func validate() throws {
        try requireRange("--entries", entries, 1...100_000_000)
    }

    func measure(on workbench: Workbench) throws -> Report {
        let workload = Workload(
            name: "\(entries) pending\(Programs.build)",
            figures: [Figure("entries", given: entries)]
                + (try StoreBenchmark(entries: entries, workbench: workbench).run())
        )
        return Report(benchmark: "store", workloads: [workload])
    }
}

/// Fills the store of one partition, reopens it, and reads it.
struct StoreBenchmark {
    private static let changesPerWrite = 1_000
    /// The limit at which a lane would wait.
    private static let mostUnwritten = 20_000
    private static let year: UInt64 = 365 * 86_400_000
    private static let lookups = 100_000
    private static let digits = Array("0123456789abcdef".utf8)

    let entries: Int
    let workbench: Workbench
    private let directory: String

    init(entries: Int, workbench: Workbench) {
        (self.entries, self.workbench) = (entries, workbench)
        directory = workbench.place("store").path
    }

    func run() throws -> [Figure] {
        let before = try ProcessSample.own().residentBytes
        let store = try open()
        workbench.report("inserting \(entries) pending entries")
        let clock = ContinuousClock()
        var handover = Duration.zero
        let inserting = try clock.measure {
            for first in stride(from: 0, to: entries, by: Self.changesPerWrite) {
                let changes = (first..<min(first + Self.changesPerWrite, entries)).map(change)
                let position = StorePosition(lineage: "bench", offset: Int64(first), writtenAt: now)
                handover += try clock.measure { try store.write(changes, position: position) }
                try waitForRoom(in: store)
            }
            try store.flush()
        }
        let writer = try writerSeconds()
        let resident = try ProcessSample.own().residentBytes - before
        guard store.counts.pending == entries else {
            throw BenchmarkError("\(store.counts.pending) of \(entries) entries found")
        }
        workbench.report("closing and reopening")
        let closing = clock.measure { store.close(flushing: true) }
        let disk = try Workbench.bytes(ofFilesIn: directory)
        var again = store
        let opening = try clock.measure { again = try open() }
        workbench.report("reading due entries")
        let scanning = try clock.measure { try scan(again) }
        let missing = try clock.measure {
            for number in 0..<Self.lookups where try again.entry(of: key(entries + number)) != nil {
                throw BenchmarkError("found a key that was never inserted")
            }
        }
        let finding = try clock.measure {
            for number in 0..<Self.lookups {
                let known = key(Int(Pattern.mixed(number) % UInt64(entries)))
                guard try again.entry(of: known) != nil else { throw BenchmarkError("a key is missing") }
            }
        }
        again.close(flushing: false)
        let count = Double(entries)
        let handoverTime = handover / .microseconds(1) / count
        let (hit, miss) = (finding / .microseconds(1), missing / .microseconds(1))
        return [
            // From the first change to the last one on disk.
            Figure("inserts_per_second", "inserts/s", count / (inserting / .seconds(1)), as: .whole),
            Figure("writer_cpu_us_per_insert", "us CPU of the writing thread per insert", writer * 1e6 / count),
            Figure("handover_us_per_insert", "us of the inserting thread per insert", handoverTime),
            // The increase of the process's memory, after everything is written.
            Figure("resident_bytes_per_pending", "bytes of memory per entry", Double(resident) / count),
            Figure("disk_bytes_per_pending", "bytes of the closed file per entry", Double(disk) / count),
            Figure("close_seconds", "s to close", closing / .seconds(1)),
            Figure("reopen_seconds", "s to reopen", opening / .seconds(1)),
            // In order, a thousand at a time, with their values.
            Figure("due_scanned_per_second", "due entries read/s", count / (scanning / .seconds(1)), as: .whole),
            Figure("hit_us", "us to find a random key", hit / Double(Self.lookups)),
            Figure("miss_us", "us to look up a missing key", miss / Double(Self.lookups)),
        ]
    }

    private var now: Timestamp { SystemClock.now() }

    private func waitForRoom(in store: SQLiteEntryStore) throws {
        while store.unwritten > Self.mostUnwritten {
            if let trouble = store.trouble {
                throw BenchmarkError("the store cannot write: \(trouble); give --directory another place")
            }
            usleep(1_000)
        }
    }

    private func open() throws -> SQLiteEntryStore {
        let opened = try SQLiteEntryStore.open(
            directory: directory,
            topic: "requests",
            partition: 0,
            cluster: "bench",
            now: now
        )
        if let discarded = opened.discarded { throw BenchmarkError("the store was discarded: \(discarded)") }
        return opened.store
    }

    private func scan(_ store: SQLiteEntryStore) throws {
        var cursor = DueCursor(before: Timestamp(rawValue: 0))
        var seen = 0
        while true {
            let found = try store.due(after: &cursor, through: .latest, limit: 1_000)
            seen += found.count
            if found.isEmpty { break }
        }
        guard seen == entries else { throw BenchmarkError("\(seen) of \(entries) entries are due") }
    }

    // MARK: - Entries

    /// 40 bytes; five keys per recipient.
    private func key(_ number: Int) -> [UInt8] {
        var key = Array("shop/".utf8)
        func hexadecimal(_ word: UInt64, _ digits: Int) {
            for digit in (0..<digits).reversed() { key.append(Self.digits[Int(word >> (4 * digit) & 15)]) }
        }
        hexadecimal(Pattern.mixed(number / 5), 16)
        key.append(UInt8(ascii: "/"))
        hexadecimal(Pattern.mixed(number), 16)
        hexadecimal(UInt64(number % 5), 2)
        return key
    }

    private func change(_ number: Int) -> StoreChange {
        var value = Array(repeating: UInt8(ascii: "x"), count: 410)
        withUnsafeBytes(of: Pattern.mixed(number)) { value.replaceSubrange(0..<8, with: $0) }
        let due = now.adding(milliseconds: Int64(Pattern.mixed(number ^ 0x5555) % Self.year))
        return StoreChange(key: key(number), value: value, due: due, touched: now)
    }

    /// User and system time of the store's thread.
    private func writerSeconds() throws -> Double {
        let tasks = "/proc/self/task"
        for task in (try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? [] {
            guard let name = try? String(contentsOfFile: "\(tasks)/\(task)/comm", encoding: .utf8),
                name.hasPrefix("store-"), let thread = Int32(task)
            else { continue }
            return try ProcessSample(of: thread, in: tasks).cpuSeconds
        }
        throw BenchmarkError("the store has no writing thread")
    }
}
