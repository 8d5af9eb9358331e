import Foundation
import GRDB
import NotificationModel
import Testing

@testable import NotificationConsumer

/// The files that are discarded: in doubt a partition is restored from the changelog.
struct SQLiteStoreDiscardTests {
    private static let name = "carillon.requests-3.sqlite"

    /// A closed store of 600 entries.
    private func fill(_ directory: String) throws {
        let store = try openStore(in: directory).store
        let value = String(repeating: "x", count: 500)
        try store.write(
            (0..<600).map { change("shop/r\($0)/i", value, due: $0 % 2 == 0 ? $0 : nil) },
            position: position(9)
        )
        store.close(flushing: true)
    }

    private func alter(_ directory: String, _ sql: String) throws {
        let queue = try DatabaseQueue(path: "\(directory)/\(Self.name)")
        try queue.inDatabase { try $0.execute(sql: sql) }
        try queue.close()
    }

    /// Expects that the file is created again, that the reason is logged once, and that the store works.
    private func expectDiscarded(_ directory: String, _ reason: String, partition: Int32 = 3) throws {
        let (store, discarded) = try openStore(in: directory, partition: partition)
        #expect(discarded?.contains(reason) == true, "\(discarded ?? "kept")")
        #expect(store.position == nil)
        #expect(store.counts == StoreCounts())
        #expect(try store.allDue() == [])
        try store.write([change("shop/a/1")], position: position(1))
        store.close(flushing: true)
        let again = try openStore(in: directory, partition: partition)
        defer { again.store.close(flushing: false) }
        #expect(again.discarded == nil)
        #expect(again.store.position == position(1))
    }

    @Test(arguments: [
        ("PRAGMA application_id = 5", "not a store of Carillon"),
        ("PRAGMA user_version = 99", "another version"),
        ("UPDATE meta SET topic = 'other'", "of other-3"),
        ("UPDATE meta SET partition = 4", "of carillon.requests-4"),
        ("UPDATE meta SET cluster = 'c2'", "of cluster c2"),
        ("UPDATE meta SET entries = entries + 1", "inconsistent"),
        ("UPDATE meta SET pending = pending - 1", "inconsistent"),
        ("UPDATE meta SET entries = -1", "meta row is invalid"),
        ("UPDATE meta SET cluster = x'ff00'", "meta row is invalid"),
        ("UPDATE meta SET partition = 9000000000", "meta row is invalid"),
        ("DELETE FROM meta", "meta row is missing"),
        ("DROP TABLE meta", "no such table"),
        ("DROP TABLE entry", "no such table"),
        ("DROP INDEX entry_key", "no such index"),
    ])
    func `a foreign or inconsistent file is created again`(sql: String, reason: String) throws {
        try withDirectory { directory in
            try fill(directory)
            try alter(directory, sql)
            try expectDiscarded(directory, reason)
        }
    }

    @Test func `a file older than the retention of deletions in the changelog is created again`() throws {
        try withDirectory { directory in
            try fill(directory)
            let retention = SQLiteEntryStore.Limits().retention.milliseconds
            let kept = try openStore(in: directory, now: storeTime.adding(milliseconds: retention))
            #expect(kept.discarded == nil)
            kept.store.close(flushing: false)
            let late = try openStore(in: directory, now: storeTime.adding(milliseconds: retention + 1))
            defer { late.store.close(flushing: false) }
            #expect(late.discarded?.contains("deletions") == true)
            #expect(late.store.position == nil)
        }
    }

    @Test(
        arguments: [
            (true, "boot-1", "boot-2", true), (true, nil, nil, true), (false, "boot-1", "boot-1", true),
            (false, "boot-1", "boot-2", false), (false, nil, nil, false), (false, nil, "boot-1", false),
            (false, "boot-1", nil, false),
        ] as [(Bool, String?, String?, Bool)]
    )
    func `a file that was open when the machine stopped is created again, a closed one is kept`(
        isClosed: Bool,
        first: String?,
        second: String?,
        isKept: Bool
    ) throws {
        try withDirectory { directory in
            let store = try openStore(in: directory, bootID: first).store
            try store.write([change("shop/a/1")], position: position(1))
            try store.flush()
            if isClosed { store.close(flushing: true) }
            let copy = "\(directory)/copy"
            try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: true)
            for suffix in isClosed ? [""] : ["", "-wal"] {
                let file = "\(Self.name)\(suffix)"
                try FileManager.default.copyItem(atPath: "\(directory)/\(file)", toPath: "\(copy)/\(file)")
            }
            store.close(flushing: false)
            let again = try openStore(in: copy, bootID: second)
            defer { again.store.close(flushing: false) }
            #expect((again.discarded == nil) == isKept)
            #expect((again.store.position == position(1)) == isKept)
        }
    }

    @Test func `after a power loss a file that was opened again is not marked as closed`()
        throws
    {
        try withDirectory { directory in
            try fill(directory)
            let store = try openStore(in: directory).store
            try store.write([change("shop/a/1")], position: position(10))
            try store.flush()
            // The log is not synchronized: a power loss may lose all of it, and keep the synchronized pages.
            let copy = "\(directory)/copy"
            try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: true)
            try FileManager.default.copyItem(atPath: "\(directory)/\(Self.name)", toPath: "\(copy)/\(Self.name)")
            // From here on nothing is synchronized.
            let synchronous = try #require(store.behind).connection.inDatabase {
                try Int.fetchOne($0, sql: "PRAGMA synchronous")
            }
            #expect(synchronous == 0)
            store.close(flushing: false)
            let (again, discarded) = try openStore(in: copy, bootID: "boot-2")
            defer { again.close(flushing: false) }
            #expect(discarded?.contains("restarted while") == true, "\(discarded ?? "kept")")
            #expect(again.position == nil)
        }
    }

    @Test(arguments: ["", "no database", String(repeating: "SQLite format 3 or so ", count: 1000)])
    func `a file that is no database is created again`(contents: String) throws {
        try withDirectory { directory in
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            _ = FileManager.default.createFile(atPath: "\(directory)/\(Self.name)", contents: Data(contents.utf8))
            try expectDiscarded(directory, contents.isEmpty ? "not a store" : "not a database")
        }
    }

    @Test func `a truncated file is created again, or found damaged before it returns wrong data`() throws {
        for part in [0.1, 0.5, 0.9] {
            try withDirectory { directory in
                try fill(directory)
                let path = "\(directory)/\(Self.name)"
                let whole = try Data(contentsOf: URL(fileURLWithPath: path))
                try whole.prefix(Int(Double(whole.count) * part)).write(to: URL(fileURLWithPath: path))
                try expectNothingWrong(directory, "\(part)")
            }
        }
    }

    @Test(arguments: [0x00, 0xA5] as [UInt8])
    func `whichever page is lost, no wrong data is read, and the next open creates the file again`(byte: UInt8) throws {
        try withDirectory { directory in
            try fill(directory)
            let path = "\(directory)/\(Self.name)"
            let whole = try Data(contentsOf: URL(fileURLWithPath: path))
            #expect(whole.count > 60 * 4096)
            for page in stride(from: 0, to: whole.count / 4096, by: 3) {
                var damaged = whole
                damaged.replaceSubrange(page * 4096..<(page + 1) * 4096, with: Array(repeating: byte, count: 4096))
                try damaged.write(to: URL(fileURLWithPath: path))
                try expectNothingWrong(directory, "page \(page)")
            }
        }
    }

    /// The file is discarded when it is opened, or found damaged when it is read and then discarded.
    private func expectNothingWrong(_ directory: String, _ place: String) throws {
        let (store, discarded) = try openStore(in: directory)
        if discarded == nil {
            do {
                for number in 0..<600 { #expect(try store.value("shop/r\(number)/i")?.count == 500, "\(place)") }
                #expect(try store.allDue().count == 300, "\(place)")
                #expect(try store.idle(limit: 600).count == 300, "\(place)")
                Issue.record("\(place): nobody noticed")
            } catch EntryStoreError.damaged {
                #expect(throws: EntryStoreError.self) { try store.value("shop/r1/i") }
                #expect(throws: EntryStoreError.self) { try store.write([], position: position(10)) }
                #expect(throws: EntryStoreError.self) { try store.flush() }
            }
            store.close(flushing: true)
            let again = try openStore(in: directory)
            #expect(again.discarded?.contains("damaged") == true, "\(place)")
            #expect(again.store.position == nil)
            again.store.close(flushing: false)
        } else {
            #expect(store.position == nil)
            store.close(flushing: false)
        }
    }

    @Test(arguments: [
        "value = zeroblob(500)", "key = x'616263'", "due = due + 1", "touched = touched + 1", "checksum = checksum + 1",
    ])
    func `a changed row is detected as damage, and discarding repairs it`(assignment: String) throws {
        try withDirectory { directory in
            try fill(directory)
            try alter(directory, "UPDATE entry SET \(assignment) WHERE due = 4")
            let (store, discarded) = try openStore(in: directory)
            defer { store.close(flushing: false) }
            #expect(discarded == nil)
            #expect(throws: EntryStoreError.self) { try store.allDue() }
            #expect(throws: EntryStoreError.self) { try store.value("shop/r5/i") }
            #expect(store.trouble != nil)
            try store.discard()
            #expect(store.trouble == nil)
            #expect(try store.allDue() == [])
            try store.write([change("shop/a/1")], position: position(1))
            try store.flush()
            #expect(store.counts.entries == 1)
        }
    }
}
