import OutboundHTTP
import Testing

@testable import NotificationEnrichment

@Suite("The index of stored media")
struct MediaIndexTests {
    private static func name(_ number: Int) throws -> MediaName {
        let digits = String(number, radix: 16)
        let text = String(repeating: "0", count: 64 - digits.count) + digits
        return MediaName(digest: try #require(MediaDigest(text)), type: .png)
    }

    private static func entry(_ bytes: Int64, until: Int64) -> MediaIndex.Entry {
        .init(bytes: bytes, neededUntil: until)
    }

    /// An index to be changed within expectations.
    private final class Subject {
        var index: MediaIndex

        init(bytes: Int64 = 100, files: Int = 100) { index = MediaIndex(bytes: bytes, files: files) }

        func reserve(_ bytes: Int64, at now: Int64) -> MediaIndex.Room { index.reserve(bytes, at: now) }

        /// The names that go to get room, in this order.
        func evicted(for bytes: Int64, at now: Int64) -> [MediaName] {
            var names: [MediaName] = []
            while case .evict(let name, _) = index.reserve(bytes, at: now) { names.append(name) }
            return names
        }

        func beginScan(at now: Int64, after interval: Int64) -> Bool { index.beginScan(at: now, after: interval) }
    }

    @Test("what has not been needed for longest goes first, and no more than necessary")
    func order() throws {
        let subject = Subject()
        let names = try (0..<4).map(Self.name)
        for (name, until) in zip(names, [30, 10, 40, 20] as [Int64]) {
            subject.index.add(name, Self.entry(25, until: until))
        }
        #expect(subject.evicted(for: 50, at: 50) == [names[1], names[3]])
        #expect(subject.index.bytes == 50)
        #expect(subject.index.reserved == 50)
    }

    @Test("a medium whose time was lengthened is judged by the new time")
    func lengthened() throws {
        let subject = Subject()
        let names = try (0..<2).map(Self.name)
        subject.index.add(names[0], Self.entry(50, until: 10))
        subject.index.add(names[1], Self.entry(50, until: 20))
        subject.index.add(names[0], Self.entry(50, until: 30))
        #expect(subject.evicted(for: 100, at: 40) == [names[1], names[0]])
    }

    @Test("an application over its share loses its own media, or gets no room, before others lose theirs")
    func share() throws {
        var index = MediaIndex(bytes: 100, files: 100, share: 60)
        let (shop, bank) = (MediaOwner(application: "shop"), MediaOwner(application: "bank"))
        func add(_ number: Int, _ bytes: Int64, until: Int64, _ owner: MediaOwner) throws {
            index.add(try Self.name(number), .init(bytes: bytes, neededUntil: until, owner: owner))
        }
        try add(0, 20, until: 10, bank)
        try add(1, 30, until: 20, shop)
        try add(2, 30, until: 90, shop)
        var room = index.reserve(10, for: shop, at: 50)
        #expect(room == .evict(try Self.name(1), .init(bytes: 30, neededUntil: 20, owner: shop)))
        room = index.reserve(30, for: shop, at: 50)
        #expect(room == .reserved, "the older one of the bank stays")
        room = index.reserve(1, for: shop, at: 50)
        #expect(room == .shareFull, "downloads in progress count")
        room = index.reserve(20, for: bank, at: 5)
        #expect(room == .reserved)
        index.release(30, for: shop)
        room = index.reserve(30, for: shop, at: 5)
        #expect(room == .reserved)
    }

    @Test("the shares are those of the files that a scan finds, and a medium stays that of who fetched it first")
    func shareAfterScan() throws {
        var index = MediaIndex(bytes: 100, files: 100, share: 50)
        let (shop, bank) = (MediaOwner(application: "shop"), MediaOwner(application: "bank"))
        let isBegun = index.beginScan(at: 0, after: 0)
        #expect(isBegun)
        index.endScan([try Self.name(0): .init(bytes: 50, neededUntil: 90, owner: shop)])
        index.add(try Self.name(0), .init(bytes: 50, neededUntil: 99, owner: bank))
        var room = index.reserve(1, for: shop, at: 50)
        #expect(room == .shareFull)
        room = index.reserve(50, for: bank, at: 50)
        #expect(room == .reserved)
        index.remove(try Self.name(0))
        room = index.reserve(50, for: shop, at: 50)
        #expect(room == .reserved)
    }

    @Test("what is needed in the future stays, and there is no room")
    func needed() throws {
        let subject = Subject()
        subject.index.add(try Self.name(0), Self.entry(60, until: 51))
        #expect(subject.reserve(40, at: 50) == .reserved)
        #expect(subject.reserve(1, at: 50) == .full)
        #expect(subject.reserve(1, at: 51) == .evict(try Self.name(0), Self.entry(60, until: 51)))
        #expect(subject.reserve(60, at: 51) == .reserved)
        #expect(subject.reserve(1, at: 51) == .full)
        subject.index.release(100)
        #expect(subject.reserve(100, at: 51) == .reserved)
    }

    @Test("the number of files is bounded too")
    func files() throws {
        let subject = Subject(bytes: 100, files: 2)
        for number in 0..<2 { subject.index.add(try Self.name(number), Self.entry(1, until: Int64(number))) }
        #expect(subject.reserve(0, at: 5) == .reserved)
        #expect(subject.evicted(for: 1, at: 5) == [try Self.name(0)])
    }

    @Test("a removed medium is not evicted, and one that came again is evicted once")
    func removed() throws {
        let subject = Subject(bytes: 10, files: 100)
        let name = try Self.name(0)
        subject.index.add(name, Self.entry(10, until: 1))
        subject.index.remove(name)
        #expect(subject.index.bytes == 0)
        subject.index.add(name, Self.entry(10, until: 1))
        #expect(subject.evicted(for: 10, at: 5) == [name])
        #expect(subject.index.count == 0)
    }

    @Test("a scan replaces what was known, except what changed meanwhile")
    func scan() throws {
        let subject = Subject()
        let names = try (0..<4).map(Self.name)
        for name in names.prefix(2) { subject.index.add(name, Self.entry(1, until: 1)) }
        #expect(subject.beginScan(at: 0, after: 0))
        #expect(!subject.beginScan(at: 0, after: 0), "one at a time")
        subject.index.remove(names[0])
        subject.index.add(names[2], Self.entry(2, until: 2))
        subject.index.endScan([names[0]: Self.entry(1, until: 1), names[3]: Self.entry(4, until: 4)])
        #expect(names.map { subject.index[$0]?.bytes } == [nil, nil, 2, 4])
        #expect(subject.index.bytes == 6)
        #expect(subject.evicted(for: 100, at: 9) == [names[2], names[3]])
    }

    @Test("a scan that failed changes nothing")
    func failedScan() throws {
        let subject = Subject()
        subject.index.add(try Self.name(0), Self.entry(1, until: 1))
        #expect(subject.beginScan(at: 0, after: 0))
        subject.index.endScan(nil)
        #expect(subject.index.count == 1)
        #expect(subject.beginScan(at: 60, after: 60))
    }

    @Test("scans keep their interval, also when the clock is set back")
    func interval() {
        let subject = Subject()
        for (now, isDue) in [(1000, true), (1059, false), (1060, true), (5, true), (64, false), (65, true)]
            as [(Int64, Bool)]
        {
            #expect(subject.beginScan(at: now, after: 60) == isDue, "\(now)")
            if isDue { subject.index.endScan([:]) }
        }
    }

    @Test("absurd sizes and instants do not overflow")
    func extremes() throws {
        let subject = Subject(bytes: .max, files: .max)
        for number in 0..<100 { subject.index.add(try Self.name(number), Self.entry(.max, until: .min)) }
        subject.index.add(try Self.name(100), Self.entry(.min, until: .max))
        #expect(subject.index.bytes == 100 << 40)
        #expect(subject.beginScan(at: .min, after: .max))
        subject.index.endScan([:])
        #expect(!subject.beginScan(at: .max - 1, after: .max))
        let none = Subject(bytes: .min, files: .min)
        #expect(none.reserve(1, at: .max) == .full)
    }
}
