import Foundation
import GRDB
import NotificationModel
import Testing

@testable import NotificationConsumer

/// The behavior that only the store in a file has.
struct SQLiteEntryStoreTests {
    @Test(arguments: 0..<4 as Range<UInt64>, [false, true])
    func `it agrees with a dictionary across closing, and across a kill`(seed: UInt64, isKilled: Bool) throws {
        try withDirectory { directory in
            var model = StoreModel(seed: seed)
            var place = directory
            for round in 0..<6 {
                let (store, discarded) = try openStore(in: place) { $0.batchSize = 40 }
                defer { store.close(flushing: true) }
                #expect(discarded == nil)
                #expect(try model.difference(from: store) == nil, "opened, round \(round)")
                #expect(store.counts == model.counts)
                for _ in 0..<12 { try model.write(to: store) }
                guard isKilled else { continue }
                // A killed process leaves the files as they were after the last transaction, as a copy does.
                try store.flush()
                let copy = "\(directory)/after-\(round)"
                try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: true)
                for suffix in ["", "-wal"] {
                    let name = "carillon.requests-3.sqlite\(suffix)"
                    try FileManager.default.copyItem(atPath: "\(place)/\(name)", toPath: "\(copy)/\(name)")
                }
                place = copy
            }
        }
    }

    @Test func `only this user reads its files and its directory, also those that everybody could read`() throws {
        try withDirectory { directory in
            let own = "\(directory)/a/b"
            func mode(_ path: String) throws -> Int? {
                try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            }
            let first = try openStore(in: own).store
            try first.write([change("shop/a/1")], position: position(1))
            try first.flush()
            let files = try FileManager.default.contentsOfDirectory(atPath: own).map { "\(own)/\($0)" }
            #expect(files.count == 4, "the file, its log and index, and the lock: \(files)")
            for file in files { #expect(try mode(file) == 0o600, "\(file)") }
            #expect(try mode(own) == 0o700 && mode("\(directory)/a") == 0o700)
            first.close(flushing: true)

            for file in files where FileManager.default.fileExists(atPath: file) {
                try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
            }
            let (again, discarded) = try openStore(in: own)
            #expect(discarded == nil)
            try again.write([change("shop/a/2")], position: position(2))
            try again.flush()
            for file in files where !file.hasSuffix(".lock") { #expect(try mode(file) == 0o600, "\(file)") }
            again.close(flushing: true)
        }
    }

    @Test func `what is deleted is overwritten in the file`() throws {
        try withDirectory { directory in
            func contains(_ text: String) throws -> Bool {
                try FileManager.default.contentsOfDirectory(atPath: directory).contains { name in
                    try Data(contentsOf: URL(filePath: "\(directory)/\(name)")).range(of: Data(text.utf8)) != nil
                }
            }
            func writing(_ changes: [StoreChange], _ offset: Int64) throws {
                let store = try openStore(in: directory).store
                try store.write(changes, position: position(offset))
                store.close(flushing: true)
            }
            try writing((0..<8).map { change("shop/a/\($0)", "content-of-\($0)-") }, 1)
            #expect(try contains("content-of-3-"))
            try writing([change("shop/a/3", nil)], 2)
            #expect(try !contains("content-of-3-") && contains("content-of-4-"))
        }
    }

    @Test func `a batch is written when it is full, or old`() throws {
        try withDirectory { directory in
            let full = try openStore(in: directory) { $0.batchSize = 3 }.store
            try full.write((0..<2).map { change("shop/a/\($0)") }, position: position(1))
            #expect(full.unwritten == 2)
            try full.write([change("shop/a/1", "again")], position: position(2))
            #expect(full.unwritten == 2)
            try full.write([change("shop/a/2")], position: position(3))
            try waitUntil { full.unwritten == 0 }
            #expect(full.counts.entries == 3)
            full.close(flushing: false)

            let old = try openStore(in: directory) { $0.batchAge = .milliseconds(5) }.store
            #expect(old.position == position(3))
            try old.write([change("shop/a/9")], position: position(4))
            try waitUntil { old.unwritten == 0 }
            #expect(old.counts.entries == 4)
            old.close(flushing: false)
        }
    }

    @Test func `one thread writes many stores, also if one of them fails`() throws {
        try withDirectory { directory in
            let writers = StoreWriters()
            // After the first round no store is left, and the thread ends.
            for round in 0..<2 as Range<Int32> {
                let stores = try (0..<4).map { number in
                    try openStore(in: directory, partition: 4 * round + number) { $0.writers = writers }.store
                }
                try limitPages(of: try #require(stores[1].behind), to: 20)
                for store in stores {
                    let value = String(repeating: "v", count: 900)
                    try store.write((0..<200).map { change("shop/a/\($0)", value) }, position: position(1))
                }
                stores[2].close(flushing: false)
                for store in stores { store.beginFlush() }
                try waitUntil { stores[0].unwritten + stores[3].unwritten == 0 && stores[1].trouble != nil }
                #expect(stores[0].counts.entries == 200 && stores[3].counts.entries == 200)
                #expect(stores[1].unwritten == 200)
                for store in stores { store.close(flushing: true) }
            }
        }
    }

    @Test func `closing without flushing keeps the earlier writes, and their position`() throws {
        try withDirectory { directory in
            let store = try openStore(in: directory).store
            try store.write([change("shop/a/1")], position: position(1))
            try store.flush()
            try store.write([change("shop/a/2")], position: position(2))
            store.close(flushing: false)
            let again = try openStore(in: directory).store
            defer { again.close(flushing: false) }
            #expect(again.position == position(1))
            #expect(try again.keys(withPrefix: "shop/a/") == ["shop/a/1"])
        }
    }

    @Test func `on a full disk nothing is lost, the reason is reported, and writing continues when there is room`()
        throws
    {
        try withDirectory { directory in
            let store = try openStore(in: directory) { $0.retryInterval = .milliseconds(5) }.store
            let behind = try #require(store.behind)
            try store.write([change("shop/a/first")], position: position(1))
            try store.flush()
            try limitPages(of: behind, to: 20)
            let value = String(repeating: "x", count: 500)
            try store.write((0..<1000).map { change("shop/a/\($0)", value, due: 5) }, position: position(2))
            #expect(throws: EntryStoreError.self) { try store.flush() }
            #expect(store.trouble?.contains("full") == true)
            #expect(store.unwritten == 1000)
            // Later writes wait.
            try store.write([change("shop/a/0", "newer", due: 6), change("shop/a/1", nil)], position: position(3))
            #expect(store.unwritten == 1002)
            #expect(try store.value("shop/a/0") == "newer")
            #expect(try store.keys(withPrefix: "shop/a/").count == 1000)
            #expect(try store.allDue(limit: 100).count == 999)
            #expect(store.counts == StoreCounts(entries: 1, pending: 0))

            try limitPages(of: behind, to: 1_000_000)
            try waitUntil { store.trouble == nil }
            try store.flush()
            #expect(store.unwritten == 0)
            #expect(store.counts == StoreCounts(entries: 1000, pending: 999))
            store.close(flushing: true)
            let again = try openStore(in: directory).store
            defer { again.close(flushing: false) }
            #expect(again.position == position(3))
            #expect(again.counts == StoreCounts(entries: 1000, pending: 999))
        }
    }

    @Test func `closing on a full disk ends, and the file does not change`() throws {
        try withDirectory { directory in
            let store = try openStore(in: directory) { $0.retryInterval = .seconds(3600) }.store
            try store.write([change("shop/a/first")], position: position(1))
            try store.flush()
            try limitPages(of: try #require(store.behind), to: 20)
            let value = String(repeating: "x", count: 500)
            try store.write((0..<1000).map { change("shop/a/\($0)", value) }, position: position(2))
            store.close(flushing: true)
            let (again, discarded) = try openStore(in: directory)
            defer { again.close(flushing: false) }
            #expect(discarded == nil)
            #expect(again.position == position(1))
            #expect(again.counts.entries == 1)
        }
    }

    @Test func `deleted keys are removed from the filter, and keys added meanwhile are found`() throws {
        try withDirectory { directory in
            let store = try openStore(in: directory) { limits in
                limits.batchSize = 50
                limits.forgottenKeys = 100
            }.store
            defer { store.close(flushing: false) }
            for round in 0..<60 {
                let names = (0..<50).map { "shop/r\(round)/i\($0)" }
                try store.write(names.map { change($0) }, position: position(Int64(round)))
                for name in names { #expect(try store.value(name) == "v") }
                try store.write(names.dropFirst().map { change($0, nil) }, position: position(Int64(round)))
                #expect(try store.value("shop/r0/i0") == "v")
                #expect(try store.value("shop/r\(round)/i0") == "v")
            }
            try store.flush()
            #expect(store.counts.entries == 60)
        }
    }

    @Test func `a second store on the same file is refused until the first is closed`() throws {
        try withDirectory { directory in
            let first = try openStore(in: directory).store
            do {
                _ = try openStore(in: directory)
                Issue.record("both are open")
            } catch EntryStoreError.inUse(let what) {
                #expect(what.contains("store.directory"))
                #expect(what.contains(directory))
            }
            let other = try openStore(in: directory, partition: 4).store
            other.close(flushing: false)
            first.close(flushing: true)
            try openStore(in: directory).store.close(flushing: false)
        }
    }

    @Test func `closing waits for the disk until its deadline only; the writer keeps the file until it has finished`()
        throws
    {
        try withDirectory { directory in
            let store = try openStore(in: directory) { $0.closing = .seconds(600) }.store
            try store.write([change("shop/a/1")], position: position(1))
            try store.flush()
            let other = try DatabaseQueue(path: "\(directory)/carillon.requests-3.sqlite")
            try other.inDatabase { database in
                try database.execute(sql: "BEGIN IMMEDIATE")
                store.close(flushing: true, by: .now)
                do {
                    _ = try openStore(in: directory)
                    Issue.record("both are open")
                } catch EntryStoreError.inUse {}
                try database.execute(sql: "ROLLBACK")
            }
            try other.close()
        }
    }

    @Test func `a directory that cannot be created is an error that names the setting`() throws {
        try withDirectory { directory in
            _ = FileManager.default.createFile(atPath: directory, contents: Data("a file".utf8))
            for place in [directory, "\(directory)/below", "/proc/carillon"] {
                do {
                    _ = try openStore(in: place)
                    Issue.record("\(place) was made")
                } catch EntryStoreError.unusable(let what) {
                    #expect(what.contains("store.directory"))
                    #expect(what.contains(place))
                }
            }
        }
    }

    @Test func `a file that cannot be opened is an error that names the setting, and is not deleted`() throws {
        try withDirectory { directory in
            // Not even root can open a directory as a file.
            let path = "\(directory)/carillon.requests-3.sqlite"
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            do {
                _ = try openStore(in: directory)
                Issue.record("it was opened")
            } catch EntryStoreError.unusable(let what) {
                #expect(what.contains("store.directory"))
                #expect(what.contains(path))
            }
            #expect(FileManager.default.fileExists(atPath: path))
        }
    }

    @Test(.disabled(if: geteuid() == 0, "root may write what is read-only"), arguments: [false, true])
    func `a read-only file or directory is an error that names the setting`(isFile: Bool) throws {
        try withDirectory { directory in
            try openStore(in: directory).store.close(flushing: true)
            let place = isFile ? "\(directory)/carillon.requests-3.sqlite" : directory
            try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: place)
            defer { try? FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: place) }
            do {
                _ = try openStore(in: directory)
                Issue.record("it was opened")
            } catch EntryStoreError.unusable(let what) {
                #expect(what.contains("store.directory"))
            }
        }
    }

    private func limitPages(of behind: WriteBehind, to pages: Int) throws {
        try behind.connection.inDatabase { try $0.execute(sql: "PRAGMA max_page_count = \(pages)") }
    }
}

/// Within five minutes.
func waitUntil(_ condition: () -> Bool) throws {
    let deadline = ContinuousClock.now + .seconds(300)
    while !condition() {
        try #require(ContinuousClock.now < deadline)
        usleep(2_000)
    }
}
