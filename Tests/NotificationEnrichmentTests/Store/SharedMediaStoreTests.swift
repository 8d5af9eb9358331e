import Foundation
import OutboundHTTP
import Testing

@testable import NotificationEnrichment

@Suite("Several writers, and several stores on one directory")
struct SharedMediaStoreTests {
    private let folder: StoreFolder

    init() throws { folder = try StoreFolder() }

    @Test("each store serves and keeps what the other has stored")
    func otherMedia() throws {
        let (one, other) = (try folder.store(), try folder.store())
        let media = try one.put("abc", until: 2_000_000)
        #expect(try other.open(media.fileName)?.text == "abc")
        #expect(try other.keep(media, until: 3_000_000))
        #expect(other.usage == (1, 3))
        #expect(try other.put("abc", until: 4_000_000) == media)
        #expect(try folder.neededUntil(media) == 4_000_000)
    }

    @Test("a store learns within a minute what the other has stored and removed")
    func scan() throws {
        let (one, other) = (try folder.store(), try folder.store())
        let media = try one.put("abc", until: 2_000_000)
        _ = try one.put("defg", until: 2_000_000)
        _ = try other.write()
        #expect(other.usage == (0, 0))
        folder.advance(60_000)
        _ = try other.write()
        #expect(other.usage == (2, 7))
        try FileManager.default.removeItem(atPath: folder.file(media))
        folder.advance(60_000)
        _ = try other.write()
        #expect(other.usage == (1, 4))
    }

    @Test("a store does not evict what the other was asked to keep")
    func keptByTheOther() throws {
        let one = try folder.store(bytes: 8)
        let media = try [one.put("aaaa", until: 100), one.put("bbbb", until: 200)]
        let other = try folder.store()
        #expect(try other.keep(media[0], until: 2_000_000))
        _ = try one.put("cccc", until: 0)
        #expect(media.map { folder.has($0) } == [true, false])
        #expect(throws: MediaStoreError.self) { try one.put("ddddd", until: 0) }
        #expect(folder.has(media[0]))
    }

    @Test("a file that another process holds is passed over")
    func locked() throws {
        let store = try folder.store(bytes: 8)
        let media = try [store.put("aaaa", until: 100), store.put("bbbb", until: 200)]
        let held = try OwnedDescriptor.existing(folder.file(media[0]), O_RDWR)
        try withExtendedLifetime(held) { held in
            let isLocked = try held?.lock(waits: false)
            #expect(isLocked == true)
            _ = try store.put("cccc", until: 0)
        }
        #expect(media.map { folder.has($0) } == [true, false])
    }

    @Test("many writers of the same and of other bytes leave one file for each, and nothing else")
    func concurrentWriters() async throws {
        let stores = [try folder.store(), try folder.store()]
        try await withThrowingTaskGroup(of: StoredMedia.self) { group in
            for number in 0..<200 {
                group.addTask { try stores[number % 2].put("medium \(number / 4 % 10)", until: Int64(number)) }
            }
            var seen: Set<StoredMedia> = []
            for try await media in group { seen.insert(media) }
            #expect(seen.count == 10)
            for media in seen { #expect(folder.has(media)) }
        }
        #expect(try folder.incoming.isEmpty)
        #expect(stores[0].usage.files == 10)
        #expect(try folder.store().usage == (10, 80))
    }

    @Test("under constant eviction by two stores, no medium that is needed goes, and the bound holds")
    func concurrentEviction() async throws {
        let stores = [try folder.store(bytes: 150), try folder.store(bytes: 150)]
        let folder = folder
        let needed = try await withThrowingTaskGroup(of: StoredMedia?.self) { group in
            for number in 0..<400 {
                group.addTask {
                    let store = stores[number % 2]
                    let media = try store.put("medium \(number % 50)", until: 0)
                    guard number % 40 == 0 else { return nil }
                    // It may have been evicted already; what was promised counts.
                    return try store.keep(media, until: folder.now + 1) ? media : nil
                }
            }
            return try await group.reduce(into: [StoredMedia]()) { if let media = $1 { $0.append(media) } }
        }
        for media in needed { #expect(folder.has(media)) }
        #expect(try folder.incoming.isEmpty)
        for store in stores { #expect(store.usage.bytes <= 150) }
        #expect(stores[0].evictions + stores[1].evictions > 0)
    }
}
