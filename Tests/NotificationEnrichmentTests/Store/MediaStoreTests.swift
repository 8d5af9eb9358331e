import Foundation
import OutboundHTTP
import Testing

@testable import NotificationEnrichment

@Suite("The media store")
struct MediaStoreTests {
    private let folder: StoreFolder

    init() throws { folder = try StoreFolder() }

    // MARK: - Writing and reading

    @Test("what was written in parts is read back under the digest of its bytes")
    func roundTrip() throws {
        let store = try folder.store()
        let writer = try store.write()
        for part in ["a", "", "bc"] { try writer.append(part) }
        let media = try writer.finish(.jpeg, neededUntil: 5_000_000)
        #expect(media.digest.description == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(media.bytes == 3)
        let open = try #require(try store.open(media.fileName))
        #expect(open.media == media)
        #expect(try open.text == "abc")
        #expect(store.usage == (1, 3))
        #expect(try folder.incoming.isEmpty)
        #expect(try folder.neededUntil(media) == 5_000_000)
    }

    @Test("only this user reads files and folders, also those of a store that was open to everybody")
    func modes() throws {
        let old = "\(folder.path)/ba"
        let open = [FileAttributeKey.posixPermissions: 0o755]
        try FileManager.default.createDirectory(atPath: old, withIntermediateDirectories: false, attributes: open)
        let media = try folder.store().put("abc", until: 0)
        func mode(_ path: String) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        }
        #expect(try mode(folder.file(media)) == 0o600)
        #expect(try mode("\(folder.path)/incoming") == 0o700)
        #expect(try mode(old) == 0o700)
        let own = "\(folder.path)/own"
        _ = try MediaStore(MediaStore.Settings(directory: own, bytes: 1), now: { 0 })
        #expect(try mode(own) == 0o700)
    }

    @Test("the same bytes are kept once, for the longest time that one of them is needed")
    func deduplication() throws {
        let store = try folder.store()
        let first = try store.put("abc", until: 5_000_000)
        #expect(try store.put("abc", until: 7_000_000) == first)
        #expect(try store.put("abc", until: 6_000_000) == first)
        #expect(store.usage == (1, 3))
        #expect(try folder.neededUntil(first) == 7_000_000)
        #expect(try folder.incoming.isEmpty)
    }

    @Test("an abandoned download leaves nothing, whether it is said or not")
    func abandoned() throws {
        let store = try folder.store(bytes: 10)
        let writer = try store.write()
        try writer.append("0123456789")
        writer.abandon()
        writer.abandon()
        try store.write().append("0123456789")
        #expect(try folder.incoming.isEmpty)
        #expect(store.usage == (0, 0))
        _ = try store.put("0123456789", until: 0)
        #expect(store.usage == (1, 10))
    }

    @Test("a writer is used up by its end")
    func usedUp() throws {
        let store = try folder.store()
        let writer = try store.write()
        try writer.append("abc")
        _ = try writer.finish(.png, neededUntil: 0)
        #expect(throws: MediaStoreError.self) { try writer.append("d") }
        #expect(throws: MediaStoreError.self) { try writer.finish(.png, neededUntil: 0) }
        #expect(store.usage == (1, 3))
    }

    @Test("an empty medium is refused")
    func empty() throws {
        let store = try folder.store()
        #expect(throws: MediaStoreError.self) { try store.put("", until: 0) }
        #expect(try folder.incoming.isEmpty)
    }

    @Test("instants beyond all calendars are held to what a file can carry", arguments: [Int64.min, -1, .max])
    func instants(until: Int64) throws {
        let store = try folder.store()
        let media = try store.put("abc", until: until)
        #expect(try store.keep(media, until: until))
    }

    // MARK: - Keeping

    @Test("keeping a medium lengthens its time and never shortens it")
    func keeping() throws {
        let store = try folder.store()
        let media = try store.put("abc", until: 2_000_000)
        for (until, expected) in [(3_000_000, 3_000_000), (2_500_000, 3_000_000), (3_000_001, 3_000_001)]
            as [(Int64, Int64)]
        {
            #expect(try store.keep(media, until: until))
            #expect(try folder.neededUntil(media) == expected)
        }
    }

    @Test("a medium that vanished is not there any more, and that is no error")
    func vanished() throws {
        let store = try folder.store()
        let (first, second) = (try store.put("abc", until: 2_000_000), try store.put("de", until: 2_000_000))
        for media in [first, second] { try FileManager.default.removeItem(atPath: folder.file(media)) }
        #expect(try !store.keep(first, until: 3_000_000))
        #expect(try store.open(second.fileName) == nil)
        #expect(store.usage == (0, 0))
        #expect(try store.put("abc", until: 0) == first)
    }

    @Test("a medium that is being read survives its eviction")
    func readWhileEvicted() throws {
        let store = try folder.store(bytes: 10)
        let media = try store.put("0123456789", until: 0)
        let open = try #require(try store.open(media.fileName))
        _ = try store.put("another", until: 0)
        #expect(try store.open(media.fileName) == nil)
        #expect(try open.text == "0123456789")
    }

    @Test(
        "a file that a crash cut short is not kept or served, and the next download replaces it",
        arguments: ["", "a"]
    )
    func damaged(rest: String) throws {
        let store = try folder.store()
        let media = try store.put("abc", until: 2_000_000)
        try Data(rest.utf8).write(to: URL(filePath: folder.file(media)))
        #expect(try !store.keep(media, until: 3_000_000))
        if rest.isEmpty { #expect(try store.open(media.fileName) == nil) }
        #expect(try store.put("abc", until: 2_000_000) == media)
        #expect(try store.open(media.fileName)?.text == "abc")
        #expect(try folder.incoming.isEmpty)
    }

    // MARK: - The bound

    @Test("without room, what has not been needed for longest goes first")
    func eviction() throws {
        let store = try folder.store(bytes: 12)
        let media = try ["0000", "1111", "2222"].enumerated().map { try store.put($1, until: [300, 100, 200][$0]) }
        let new = try store.put("333333", until: 0)
        #expect(media.map { folder.has($0) } == [true, false, false])
        #expect(folder.has(new))
        #expect(store.usage == (2, 10))
        #expect(store.evictions == 2)
    }

    @Test("what is needed is never evicted; the new medium is refused and leaves nothing")
    func full() throws {
        let store = try folder.store(bytes: 10)
        let media = try store.put("0123456", until: folder.now + 1)
        let writer = try store.write()
        try writer.append("789")
        let error = #expect(throws: MediaStoreError.self) { try writer.append("a") }
        #expect(error?.code == .full)
        #expect(error?.detail.contains(folder.path) == true)
        #expect(try folder.incoming.isEmpty)
        #expect(throws: MediaStoreError.self) { try writer.finish(.png, neededUntil: 0) }
        #expect(folder.has(media))
        folder.advance(1)
        _ = try store.put("789a", until: 0)
        #expect(!folder.has(media))
    }

    @Test("downloads in progress count against the bound")
    func inProgress() throws {
        let store = try folder.store(bytes: 10)
        let writer = try store.write()
        try writer.append("01234567")
        #expect(throws: MediaStoreError.self) { try store.put("abc", until: 0) }
        _ = try store.put("ab", until: 0)
        _ = try writer.finish(.png, neededUntil: 0)
        #expect(store.usage == (2, 10))
    }

    @Test("a medium larger than the bound is refused")
    func tooLarge() throws {
        let store = try folder.store(bytes: 2)
        let error = #expect(throws: MediaStoreError.self) { try store.put("abc", until: 0) }
        #expect(error?.code == .full)
    }

    @Test("a file that vanished makes room")
    func vanishedRoom() throws {
        let store = try folder.store(bytes: 3)
        let media = try store.put("abc", until: folder.now + 60_000)
        try FileManager.default.removeItem(atPath: folder.file(media))
        folder.advance(1000)
        _ = try store.put("def", until: 0)
        #expect(store.usage == (1, 3))
        #expect(store.evictions == 0)
    }

    // MARK: - Failures of the disk

    @Test("a full disk or quota is store-full, another error store-failed", arguments: [ENOSPC, EDQUOT, EIO, EFBIG])
    func writeError(code: Int32) throws {
        let store = try folder.store { _, _ in
            errno = code
            return -1
        }
        let error = #expect(throws: MediaStoreError.self) { try store.put("abc", until: 0) }
        #expect(error?.code == (code == ENOSPC || code == EDQUOT ? .full : .failed))
        #expect(error?.detail.hasSuffix(String(cString: strerror(code))) == true)
        #expect(try folder.incoming.isEmpty)
        #expect(store.usage == (0, 0))
    }

    @Test("writes that take a part, or are interrupted, are continued")
    func shortWrites() throws {
        let store = try folder.store { descriptor, bytes in
            if Int.random(in: 0..<2) == 0 {
                errno = EINTR
                return -1
            }
            return write(descriptor, bytes.baseAddress, 1)
        }
        let media = try store.put("0123456789", until: 0)
        #expect(try store.open(media.fileName)?.text == "0123456789")
    }

    @Test("a directory that cannot be made is named at the start")
    func noDirectory() throws {
        let settings = MediaStore.Settings(directory: "\(folder.path)/missing/media", bytes: 1)
        let error = #expect(throws: MediaStoreError.self) { try MediaStore(settings, now: { 0 }) }
        #expect(error?.code == .failed)
        #expect(error?.detail.contains("missing/media") == true)
    }

    // MARK: - Restarts

    @Test("a restart knows what the directory has, and until when it is needed")
    func restart() throws {
        let media = try {
            let store = try folder.store()
            return try [store.put("abc", until: folder.now + 500), store.put("defg", until: folder.now - 500)]
        }()
        let store = try folder.store(bytes: 7)
        #expect(store.usage == (2, 7))
        _ = try store.put("xyz", until: 0)
        #expect(media.map { folder.has($0) } == [true, false])
    }

    @Test("a lower bound takes effect at the start; what is needed may exceed it")
    func lowerBound() throws {
        let media = try {
            let store = try folder.store()
            return try [store.put("abc", until: folder.now + 500), store.put("defg", until: folder.now - 500)]
        }()
        #expect(try folder.store(bytes: 2).usage == (1, 3))
        #expect(media.map { folder.has($0) } == [true, false])
    }

    @Test("other files in the directory are left alone")
    func otherFiles() throws {
        let media = try folder.store().put("abc", until: 0)
        let others = ["README", "ba/notes.txt", "ba/\(media.digest).exe", "ba/00\(media.fileName.dropFirst(2))"]
        for name in others { try Data("x".utf8).write(to: URL(filePath: "\(folder.path)/\(name)")) }
        let store = try folder.store(bytes: 3)
        #expect(store.usage == (1, 3))
        _ = try store.put("def", until: 0)
        for name in others { #expect(FileManager.default.fileExists(atPath: "\(folder.path)/\(name)"), "\(name)") }
    }

    @Test("a link in place of a medium is not followed")
    func link() throws {
        let store = try folder.store()
        let media = try store.put("abc", until: 0)
        let file = folder.file(media)
        try FileManager.default.moveItem(atPath: file, toPath: "\(folder.path)/elsewhere")
        try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: "\(folder.path)/elsewhere")
        #expect(try store.open(media.fileName) == nil)
        #expect(try !store.keep(media, until: 5_000_000))
    }

    @Test("downloads that a crash interrupted are removed after an hour, not those of running instances")
    func leftovers() throws {
        _ = try folder.store()
        try Data("abc".utf8).write(to: URL(filePath: "\(folder.path)/incoming/left"))
        // The kernel sets the time that counts, from its own clock.
        let written = try #require(OwnedDescriptor.status(of: "\(folder.path)/incoming/left")).changed
        folder.advance(written - folder.now + MediaDirectory.leftoverAge)
        _ = try folder.store()
        #expect(try folder.incoming == ["left"])
        folder.advance(1)
        _ = try folder.store()
        #expect(try folder.incoming.isEmpty)
    }

    @Test("the share of an application is known after a restart, and to other instances")
    func share() throws {
        let folder = try StoreFolder()
        func store() throws -> MediaStore {
            try MediaStore(.init(directory: folder.path, bytes: 100, share: 50), now: { folder.now })
        }
        func put(_ count: Int, _ application: String, _ store: MediaStore) throws {
            let writer = try store.write(for: MediaOwner(application: application))
            try writer.append(application + String(repeating: "x", count: count - application.utf8.count))
            _ = try writer.finish(.png, neededUntil: folder.now + 1000)
        }
        try put(40, "shop", store())
        let later = try store()
        let error = #expect(throws: MediaStoreError.self) { try put(20, "shop", later) }
        #expect(error?.code == .full && error?.detail.contains("50 percent") == true)
        try put(50, "bank", later)
        folder.advance(1000)
        try put(45, "shop", later)
        #expect(later.usage.bytes == 95 && later.evictions == 1)
    }

}
