import Foundation
import NotificationModel
import NotificationState
import TestSupport

@testable import NotificationConsumer

/// A directory of one test.
func withDirectory<Result>(_ body: (String) throws -> Result) throws -> Result {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent("store-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: directory) }
    return try body(directory)
}

let storeTime = Timestamp(rawValue: 1_800_000_000_000)

/// Opens the store of partition 3; by default it writes only when it is flushed or full.
func openStore(
    in directory: String,
    partition: Int32 = 3,
    topic: String = "carillon.requests",
    cluster: String = "c1",
    now: Timestamp = storeTime,
    bootID: String? = "boot-1",
    _ change: (inout SQLiteEntryStore.Limits) -> Void = { _ in }
) throws -> (store: SQLiteEntryStore, discarded: String?) {
    var limits = SQLiteEntryStore.Limits()
    limits.batchAge = .seconds(3600)
    change(&limits)
    let opened = try SQLiteEntryStore.open(
        directory: directory,
        topic: topic,
        partition: partition,
        cluster: cluster,
        limits: limits,
        now: now,
        bootID: bootID
    )
    return (opened.store, opened.discarded?.reason)
}

func position(_ offset: Int64, lineage: String = "l1") -> StorePosition {
    StorePosition(lineage: lineage, offset: offset, writtenAt: storeTime)
}

func change(_ key: String, _ value: String? = "v", due: Int64? = nil, touched: Int64 = 0) -> StoreChange {
    StoreChange(
        key: Array(key.utf8),
        value: value.map { Array($0.utf8) },
        due: due.map(Timestamp.init(rawValue:)),
        touched: Timestamp(rawValue: touched)
    )
}

extension EntryStore {
    func value(_ key: String) throws -> String? {
        try entry(of: Array(key.utf8)).map { String(decoding: $0.value, as: UTF8.self) }
    }

    func keys(withPrefix prefix: String) throws -> Set<String> {
        Set(try entries(withPrefix: Array(prefix.utf8)).map { String(decoding: $0.key, as: UTF8.self) })
    }

    /// A recipient's keys, read in pages; `between` is called after each with its number.
    func pages(
        withPrefix prefix: String,
        limit: Int,
        between: ([StoredEntry], Int) throws -> Void
    ) throws -> [[String]] {
        var cursor = RecipientCursor()
        var pages: [[String]] = []
        while true {
            let page = try entries(withPrefix: Array(prefix.utf8), after: &cursor, limit: limit)
            pages.append(page.map { String(decoding: $0.key, as: UTF8.self) })
            guard page.count >= limit else { return pages }
            try between(page, pages.count)
        }
    }

    /// All due entries, read in steps.
    func allDue(from start: Int64 = 0, through: Int64 = .max, limit: Int = 7) throws -> [StoredEntry] {
        var cursor = DueCursor(before: Timestamp(rawValue: start))
        var all: [StoredEntry] = []
        while true {
            let some = try due(after: &cursor, through: Timestamp(rawValue: through), limit: limit)
            if some.isEmpty { return all }
            all += some
        }
    }
}

/// The expected contents of a store: a dictionary, and a log of all changes.
struct StoreModel {
    private(set) var entries: [[UInt8]: StoreChange] = [:]
    private(set) var offset: Int64 = 0
    private var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    private mutating func key() -> [UInt8] {
        // Recipients whose names are prefixes of others, few enough that keys repeat.
        let recipient = ["a", "ab", "a%2Fb", "b"].randomElement(using: &random) ?? ""
        return Array("shop/\(recipient)/i\(Int.random(in: 0..<80, using: &random))".utf8)
    }

    mutating func write(to store: any EntryStore) throws {
        var changes: [StoreChange] = []
        for _ in 0..<Int.random(in: 0...30, using: &random) {
            let key = key()
            let isGone = Int.random(in: 0..<4, using: &random) == 0
            let length = Int.random(in: 0...900, using: &random)
            let byte = UInt8.random(in: 0...255, using: &random)
            let isPending = !isGone && Bool.random(using: &random)
            let change = StoreChange(
                key: key,
                value: isGone ? nil : Array(repeating: byte, count: length),
                // Few instants, so that many entries are due together.
                due: isPending ? Timestamp(rawValue: Int64.random(in: 0..<12, using: &random)) : nil,
                touched: Int.random(in: 0..<8, using: &random) == 0
                    ? .latest : Timestamp(rawValue: Int64.random(in: 0..<50, using: &random)),
                open: isPending ? OpenRequests(rawValue: UInt8.random(in: 0..<64, using: &random)) ?? .none : .none
            )
            changes.append(change)
            // The last change of a key counts.
            if Int.random(in: 0..<8, using: &random) == 0, let other = changes.randomElement(using: &random) {
                changes.append(StoreChange(key: other.key, value: [byte], due: nil, touched: change.touched))
            }
        }
        offset += Int64(changes.count) + 1
        try store.write(changes, position: position(offset))
        for change in changes { entries[change.key] = change.value == nil ? nil : change }
    }

    /// The first difference between the store and its expected contents.
    mutating func difference(from store: any EntryStore) throws -> String? {
        for _ in 0..<10 {
            let key = key()
            guard try store.entry(of: key)?.value == entries[key]?.value else { return "entry" }
        }
        for prefix in ["shop/a/", "shop/ab/", "shop/a%2Fb/", "shop/b/", "shop/c/"] {
            let prefix = Array(prefix.utf8)
            let found = try store.entries(withPrefix: prefix)
            let wanted = entries.values.filter { $0.key.starts(with: prefix) }
            guard found.count == wanted.count, Set(found) == Set(wanted.compactMap(\.entry)) else { return "prefix" }
        }
        let from = Int64.random(in: -1..<12, using: &random)
        let through = Int64.random(in: 0..<13, using: &random)
        let limit = Int.random(in: 1...40, using: &random)
        let due = try store.allDue(from: from, through: through, limit: limit)
        let pending = entries.values.filter { $0.due.map { from...max(from, through) ~= $0.rawValue } ?? false }
            .filter { $0.due.map { $0.rawValue <= through } ?? false }
        let times = due.compactMap { entries[$0.key]?.due }
        guard due.count == pending.count, Set(due) == Set(pending.compactMap(\.entry)), times == times.sorted() else {
            return "due from \(from) through \(through), \(limit) at a time"
        }
        let idle = entries.values.filter { $0.due == nil }.map(\.touched).sorted()
        let found = try store.idle(limit: limit)
        guard found.map(\.touched) == Array(idle.prefix(limit)), Set(found.map(\.key)).count == found.count,
            found.allSatisfy({ entries[$0.key]?.touched == $0.touched && entries[$0.key]?.due == nil })
        else { return "idle" }
        return store.position == (offset == 0 ? nil : position(offset)) ? nil : "position"
    }

    /// The counts after everything is written.
    var counts: StoreCounts {
        StoreCounts(
            entries: entries.count,
            pending: entries.values.count { $0.due != nil },
            lasting: entries.values.count(where: \.isLasting),
            open: entries.values.reduce(into: OpenCounts()) { $0.add($1.open) }
        )
    }
}
