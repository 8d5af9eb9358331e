import Foundation
import NotificationModel
import Testing

@testable import NotificationConsumer

/// The behavior that every store must have.
struct EntryStoreConformanceTests {
    enum Kind: CaseIterable {
        case memory
        /// Writes only when flushed: all entries are found in memory.
        case unwritten
        /// Writes batches of a few changes while it is used.
        case writing

        func with(_ body: (any EntryStore) throws -> Void) throws {
            guard self != .memory else { return try body(MemoryEntryStore()) }
            try withDirectory { directory in
                let store = try openStore(in: directory) { limits in
                    if self == .writing { limits.batchSize = 5 }
                    limits.forgottenKeys = 20
                }.store
                defer { store.close(flushing: false) }
                try body(store)
            }
        }
    }

    @Test(arguments: Kind.allCases, 0..<3)
    func `it agrees with a dictionary after any writes and reads`(kind: Kind, seed: UInt64) throws {
        try kind.with { store in
            var model = StoreModel(seed: seed)
            for step in 0..<120 {
                try model.write(to: store)
                #expect(try model.difference(from: store) == nil, "step \(step)")
                guard step % 40 == 39 else { continue }
                try store.flush()
                #expect(store.unwritten == 0)
                #expect(store.counts == model.counts)
                #expect(try model.difference(from: store) == nil, "flushed, step \(step)")
            }
        }
    }

    @Test(arguments: Kind.allCases)
    func `an empty store has nothing, and no position`(kind: Kind) throws {
        try kind.with { store in
            #expect(store.position == nil)
            #expect(store.counts == StoreCounts())
            #expect(try store.value("shop/a/1") == nil)
            #expect(try store.keys(withPrefix: "shop/a/") == [])
            #expect(try store.allDue() == [])
            #expect(try store.idle(limit: 10) == [])
            #expect(store.trouble == nil)
            try store.flush()
            #expect(store.position == nil)
        }
    }

    @Test(arguments: Kind.allCases)
    func `what must not be forgotten is counted by itself`(kind: Kind) throws {
        try kind.with { store in
            func counts(after change: StoreChange, _ offset: Int64) throws -> StoreCounts {
                try store.write([change], position: position(offset))
                try store.flush()
                return store.counts
            }
            let forEver = Timestamp.latest.rawValue
            try store.write([change("shop/b/", touched: 5), change("shop/c/1", due: forEver)], position: position(1))
            #expect(
                try counts(after: change("shop/a/", touched: forEver), 2) == .init(entries: 3, pending: 1, lasting: 1)
            )
            #expect(try counts(after: change("shop/a/", touched: forEver), 3).lasting == 1)
            #expect(try counts(after: change("shop/a/", touched: 9), 4) == .init(entries: 3, pending: 1, lasting: 0))
            #expect(try counts(after: change("shop/b/", touched: forEver), 5).lasting == 1)
            #expect(try counts(after: change("shop/b/", nil), 6) == .init(entries: 2, pending: 1, lasting: 0))
        }
    }

    @Test(arguments: Kind.allCases, [false, true])
    func `a recipient's entries are found, and not those of a recipient whose name starts with the same text`(
        kind: Kind,
        isFlushed: Bool
    ) throws {
        try kind.with { store in
            try store.write(
                ["shop/a/1", "shop/a/2", "shop/ab/1", "shop/a", "shops/a/1", "shop/b/1"].map { change($0) },
                position: position(1)
            )
            if isFlushed { try store.flush() }
            #expect(try store.keys(withPrefix: "shop/a/") == ["shop/a/1", "shop/a/2"])
            #expect(try store.keys(withPrefix: "shop/ab/") == ["shop/ab/1"])
            #expect(try store.keys(withPrefix: "shop/c/") == [])
        }
    }

    @Test(arguments: Kind.allCases, [1, 3, 100])
    func `a recipient's entries are returned in pages, each once, despite writes in between`(kind: Kind, limit: Int)
        throws
    {
        try kind.with { store in
            let names = (0..<40).map { "shop/a/\($0)" }
            try store.write(names.prefix(20).map { change($0) } + [change("shop/ab/1")], position: position(1))
            try store.flush()
            try store.write(names.suffix(20).map { change($0) } + [change("shop/b/1")], position: position(2))
            let pages = try store.pages(withPrefix: "shop/a/", limit: limit) { page, number in
                // An entry that was read changes, another is deleted, and another is added.
                var changes = page.map { StoreChange(key: $0.key, value: [1], due: nil, touched: storeTime) }
                changes += [change("shop/b/1", nil), change("shop/c/\(number)")]
                try store.write(changes, position: position(Int64(2 + number)))
                if number % 2 == 0 { try store.flush() }
            }
            #expect(pages.flatMap { $0 }.sorted() == names.sorted())
            #expect(pages.dropLast().allSatisfy { $0.count >= limit })
        }
    }

    @Test(arguments: Kind.allCases, [1, 3, 100])
    func `a cursor can stop between entries that are due at one instant, and continues after it`(kind: Kind, limit: Int)
        throws
    {
        try kind.with { store in
            let names = (0..<50).map { "shop/r\($0)/i" }
            // Half of them are on disk.
            try store.write(names.prefix(25).map { change($0, due: 7) }, position: position(1))
            try store.flush()
            try store.write(names.dropFirst(25).map { change($0, due: 7) }, position: position(2))
            try store.write([change("shop/r/later", due: 8), change("shop/r/first", due: 6)], position: position(3))

            let found = try store.allDue(through: 7, limit: limit).map { String(decoding: $0.key, as: UTF8.self) }
            #expect(found.first == "shop/r/first")
            #expect(found.count == 51)
            #expect(Set(found.dropFirst()) == Set(names))
            #expect(try store.allDue(from: 8, through: 8).count == 1)
        }
    }

    @Test(arguments: Kind.allCases)
    func `a cursor stays valid while entries after it are written`(kind: Kind) throws {
        try kind.with { store in
            let names = Set((0..<60).map { "shop/r\($0)/i" })
            try store.write(names.map { change($0, due: 7) }, position: position(1))
            var cursor = DueCursor(before: Timestamp(rawValue: 0))
            var found: [String] = []
            for _ in 0..<20 {
                let some = try store.due(after: &cursor, through: Timestamp(rawValue: 7), limit: 3)
                #expect(some.count == 3)
                found += some.map { String(decoding: $0.key, as: UTF8.self) }
                try store.flush()
                // The entries that were read are written again, as after sending.
                try store.write(
                    some.map { change(String(decoding: $0.key, as: UTF8.self), due: nil) },
                    position: position(2)
                )
            }
            #expect(found.count == 60)
            #expect(Set(found) == names)
            #expect(try store.allDue() == [])
        }
    }

    @Test(arguments: Kind.allCases, [false, true])
    func `an entry leaves the due order when it has nothing pending, and returns to it`(
        kind: Kind,
        isFlushed: Bool
    ) throws {
        try kind.with { store in
            func write(_ change: StoreChange, _ offset: Int64) throws {
                try store.write([change], position: position(offset))
                if isFlushed { try store.flush() }
            }
            try write(change("shop/a/1", "one", due: 5), 1)
            try write(change("shop/a/1", "two", due: nil, touched: 9), 2)
            #expect(try store.allDue() == [])
            #expect(
                try store.idle(limit: 5) == [IdleEntry(key: Array("shop/a/1".utf8), touched: Timestamp(rawValue: 9))]
            )
            try write(change("shop/a/1", "three", due: 6), 3)
            #expect(try store.allDue().map(\.value) == [Array("three".utf8)])
            #expect(try store.idle(limit: 5) == [])
            try store.flush()
            #expect(store.counts == StoreCounts(entries: 1, pending: 1))
            try write(change("shop/a/1", nil), 4)
            try store.flush()
            #expect(try store.value("shop/a/1") == nil)
            #expect(store.counts == StoreCounts())
            #expect(store.position == position(4))
        }
    }

    @Test(arguments: Kind.allCases)
    func `an entry added and deleted in one batch leaves nothing`(kind: Kind) throws {
        try kind.with { store in
            try store.write([change("shop/a/1", due: 5), change("shop/a/2")], position: position(1))
            try store.write([change("shop/a/1", nil), change("shop/a/3", nil)], position: position(2))
            try store.flush()
            #expect(store.counts == StoreCounts(entries: 1, pending: 0))
            #expect(try store.keys(withPrefix: "shop/a/") == ["shop/a/2"])
        }
    }

    @Test(arguments: Kind.allCases, [false, true])
    func `two keys with one hash are both kept, and the cursor skips neither`(kind: Kind, isFlushed: Bool) throws {
        // The hash multiplies words of 8 bytes with each other; a word that becomes zero cancels its neighbor.
        let zero = withUnsafeBytes(of: StableHash.secrets.1.littleEndian) { Array($0) }
        let keys = ["12345678", "abcdefgh"].map { Array("shop/a/123456789".utf8) + zero + Array("\($0)/end".utf8) }
        #expect(KeyHash(of: keys[0]) == KeyHash(of: keys[1]))
        try kind.with { store in
            let changes = keys.map { key in
                StoreChange(key: key, value: [key[24]], due: Timestamp(rawValue: 4), touched: Timestamp(rawValue: 0))
            }
            try store.write(changes, position: position(1))
            if isFlushed { try store.flush() }
            for key in keys { #expect(try store.entry(of: key)?.value == [key[24]]) }
            #expect(try store.keys(withPrefix: "shop/a/").count == 2)
            #expect(Set(try store.allDue(limit: 1).map(\.key)) == Set(keys))
            var gone = changes[0]
            (gone.value, gone.due) = (nil, nil)
            try store.write([gone], position: position(2))
            if isFlushed { try store.flush() }
            #expect(try store.entry(of: keys[0]) == nil)
            #expect(try store.allDue(limit: 1).map(\.key) == [keys[1]])
            try store.flush()
            #expect(store.counts == StoreCounts(entries: 1, pending: 1))
        }
    }

    @Test(arguments: Kind.allCases)
    func `empty and long values, and any bytes in a key, are read back unchanged`(kind: Kind) throws {
        try kind.with { store in
            let entries = [
                StoredEntry(key: Array("shop/a/empty".utf8), value: []),
                StoredEntry(key: Array("shop/a/long".utf8), value: Array(repeating: 7, count: 1 << 20)),
                StoredEntry(key: [0, 255, 0x2F, 0, 0x2F], value: [0, 255]),
                StoredEntry(key: [], value: [1]),
            ]
            let changes = entries.map {
                StoreChange(key: $0.key, value: $0.value, due: Timestamp(rawValue: .max), touched: storeTime)
            }
            try store.write(changes, position: position(1))
            for _ in 0..<2 {
                for entry in entries { #expect(try store.entry(of: entry.key) == entry) }
                #expect(Set(try store.allDue()) == Set(entries))
                try store.flush()
            }
        }
    }

    @Test(arguments: Kind.allCases)
    func `a position moves without changes`(kind: Kind) throws {
        try kind.with { store in
            try store.write([], position: position(7, lineage: "other"))
            #expect(store.position == position(7, lineage: "other"))
            try store.flush()
            #expect(store.position == position(7, lineage: "other"))
        }
    }

    @Test(arguments: Kind.allCases, [false, true])
    func `discarding removes everything, and the store can still be used`(kind: Kind, isFlushed: Bool) throws {
        try kind.with { store in
            try store.write([change("shop/a/1", due: 4), change("shop/a/2")], position: position(1))
            if isFlushed { try store.flush() }
            try store.discard()
            #expect(store.position == nil)
            #expect(store.counts == StoreCounts())
            #expect(store.unwritten == 0)
            #expect(try store.value("shop/a/1") == nil)
            #expect(try store.allDue() == [])
            try store.write([change("shop/a/3", due: 4)], position: position(1, lineage: "l2"))
            try store.flush()
            #expect(store.counts == StoreCounts(entries: 1, pending: 1))
            #expect(try store.keys(withPrefix: "shop/a/") == ["shop/a/3"])
        }
    }

    @Test(arguments: Kind.allCases)
    func `a closed store is empty, accepts nothing, and reports nothing`(kind: Kind) throws {
        try kind.with { store in
            try store.write([change("shop/a/1", due: 4)], position: position(1))
            store.close(flushing: true)
            store.close(flushing: true)
            try store.write([change("shop/a/2", due: 4)], position: position(2))
            try store.flush()
            try store.discard()
            #expect(store.position == nil)
            #expect(store.unwritten == 0)
            #expect(try store.value("shop/a/1") == nil)
            #expect(try store.value("shop/a/2") == nil)
            #expect(try store.allDue() == [])
        }
    }
}
