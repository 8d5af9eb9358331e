import Foundation
import NotificationConsumer
import NotificationModel

/// Fills the store of one partition, opens it again, and reads it.
struct StoreBenchmark {
    private static let changesPerWrite = 1_000
    /// At it a lane would wait.
    private static let mostUnwritten = 20_000
    private static let year: UInt64 = 365 * 86_400_000
    private static let lookups = 100_000
    private static let digits = Array("0123456789abcdef".utf8)

    let entries: Int
    let directory: String
    let report: (String) -> Void

    func run() throws -> StoreReport {
        let before = try residentBytes()
        let store = try open()
        report("inserting \(entries) pending entries")
        let clock = ContinuousClock()
        var handover = Duration.zero
        let inserting = try clock.measure {
            for first in stride(from: 0, to: entries, by: Self.changesPerWrite) {
                let changes = (first..<min(first + Self.changesPerWrite, entries)).map(change)
                let position = StorePosition(lineage: "bench", offset: Int64(first), writtenAt: now)
                handover += try clock.measure { try store.write(changes, position: position) }
                while store.unwritten > Self.mostUnwritten { usleep(1_000) }
            }
            try store.flush()
        }
        let writer = writerSeconds()
        let resident = try residentBytes() - before
        guard store.counts.pending == entries else {
            throw BenchmarkError("\(store.counts.pending) of \(entries) entries are there")
        }
        report("closing and opening again")
        let closing = clock.measure { store.close(flushing: true) }
        let disk = try size()
        var again = store
        let opening = try clock.measure { again = try open() }
        report("reading what is due")
        let scanning = try clock.measure { try scan(again) }
        let missing = try clock.measure {
            for number in 0..<Self.lookups where try again.entry(of: key(entries + number)) != nil {
                throw BenchmarkError("a key is there that was never put in")
            }
        }
        let finding = try clock.measure {
            for number in 0..<Self.lookups where try again.entry(of: key(Int(mixed(number) % UInt64(entries)))) == nil {
                throw BenchmarkError("a key is gone")
            }
        }
        again.close(flushing: false)
        let count = Double(entries)
        return StoreReport(
            entries: entries,
            insertsPerSecond: count / (inserting / .seconds(1)),
            writerMicrosecondsPerInsert: writer.map { $0 * 1_000_000 / count },
            handoverMicrosecondsPerInsert: handover / .microseconds(1) / count,
            residentBytesPerPending: Double(resident) / count,
            diskBytesPerPending: Double(disk) / count,
            closeSeconds: closing / .seconds(1),
            reopenSeconds: opening / .seconds(1),
            dueScannedPerSecond: count / (scanning / .seconds(1)),
            hitMicroseconds: finding / .microseconds(1) / Double(Self.lookups),
            missMicroseconds: missing / .microseconds(1) / Double(Self.lookups)
        )
    }

    private var now: Timestamp { Timestamp(rawValue: Int64(Date().timeIntervalSince1970 * 1000)) }

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

    /// As if at random, and the same each time.
    private func mixed(_ number: Int) -> UInt64 {
        var word = UInt64(number) &* 0x9E37_79B9_7F4A_7C15
        word = (word ^ word >> 30) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ word >> 27) &* 0x94D0_49BB_1331_11EB
        return word ^ word >> 31
    }

    /// 40 bytes; five to a recipient.
    private func key(_ number: Int) -> [UInt8] {
        var key = Array("shop/".utf8)
        func hexadecimal(_ word: UInt64, _ digits: Int) {
            for digit in (0..<digits).reversed() { key.append(Self.digits[Int(word >> (4 * digit) & 15)]) }
        }
        hexadecimal(mixed(number / 5), 16)
        key.append(UInt8(ascii: "/"))
        hexadecimal(mixed(number), 16)
        hexadecimal(UInt64(number % 5), 2)
        return key
    }

    private func change(_ number: Int) -> StoreChange {
        var value = Array(repeating: UInt8(ascii: "x"), count: 410)
        withUnsafeBytes(of: mixed(number)) { value.replaceSubrange(0..<8, with: $0) }
        let due = now.adding(milliseconds: Int64(mixed(number ^ 0x5555) % Self.year))
        return StoreChange(key: key(number), value: value, due: due, touched: now)
    }

    // MARK: - What the kernel says

    /// Of all files in the directory.
    private func size() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: directory).reduce(0) { sum, name in
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(directory)/\(name)")
            return sum + (attributes[.size] as? Int ?? 0)
        }
    }

    private func residentBytes() throws -> Int {
        let fields = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
        guard fields.count > 1, let pages = Int(fields[1]) else {
            throw BenchmarkError("/proc/self/statm cannot be read")
        }
        return pages * Int(getpagesize())
    }

    /// User and system time of the store's thread.
    private func writerSeconds() -> Double? {
        let tasks = "/proc/self/task"
        for task in (try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? [] {
            guard let name = try? String(contentsOfFile: "\(tasks)/\(task)/comm", encoding: .utf8),
                name.hasPrefix("store-"), let thread = Int32(task)
            else { continue }
            return try? ProcessSample(of: thread, in: tasks).cpuSeconds
        }
        return nil
    }
}
