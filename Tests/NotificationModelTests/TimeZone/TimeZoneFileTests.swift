import Foundation
import Testing
import TestSupport

@testable import NotificationModel

/// Writes TZif files, right and wrong.
struct TZifWriter {
    var version: UInt8 = 0x32
    var transitions: [(time: Int64, kind: UInt8)] = [(1_000_000, 1), (2_000_000, 0)]
    var kinds: [(offset: Int32, isDaylight: UInt8, name: UInt8)] = [(3600, 0, 0), (7200, 1, 4)]
    var names = Array("AAA\u{0}BBB\u{0}".utf8)
    var leapSeconds: [(time: Int64, correction: Int32)] = []
    var standardFlags: [UInt8] = []
    var utcFlags: [UInt8] = []
    var footer = "AAA-1"

    private func big<Value: FixedWidthInteger>(_ value: Value) -> [UInt8] {
        withUnsafeBytes(of: value.bigEndian) { Array($0) }
    }

    private func header(empty: Bool) -> [UInt8] {
        let counts = [
            utcFlags.count, standardFlags.count, leapSeconds.count, transitions.count, kinds.count, names.count,
        ]
        let minimal = [0, 0, 0, 0, 1, 1]
        return Array("TZif".utf8) + [version] + Array(repeating: 0, count: 15)
            + (empty ? minimal : counts).flatMap { big(UInt32($0)) }
    }

    private func block(wide: Bool) -> [UInt8] {
        var bytes = transitions.flatMap { wide ? big($0.time) : big(Int32(truncatingIfNeeded: $0.time)) }
        bytes += transitions.map(\.kind)
        bytes += kinds.flatMap { big($0.offset) + [$0.isDaylight, $0.name] }
        bytes += names
        bytes += leapSeconds.flatMap { big($0.time) + big($0.correction) }
        return bytes + standardFlags + utcFlags
    }

    func bytes() -> [UInt8] {
        if version == 0 { return header(empty: false) + block(wide: false) }
        let first = header(empty: true) + [0, 0, 0, 0, 0, 0, 0]
        return first + header(empty: false) + block(wide: true) + Array("\n\(footer)\n".utf8)
    }
}

@Suite("TZif files")
struct TimeZoneFileTests {
    private func damage(_ change: (inout TZifWriter) -> Void) -> String? {
        var writer = TZifWriter()
        change(&writer)
        return failure { () throws(TimeZoneFile.Damage) in try TimeZoneFile(writer.bytes()) }?.detail
    }

    @Test("all versions are read", arguments: [0, 0x32, 0x33, 0x34] as [UInt8])
    func versions(_ version: UInt8) throws {
        var writer = TZifWriter()
        writer.version = version
        writer.standardFlags = [1, 1]
        writer.utcFlags = [1, 0]
        let file = try TimeZoneFile(writer.bytes())
        #expect(file.transitions == [1_000_000, 2_000_000] && file.kindIndexes == [1, 0])
        #expect(file.kinds.map(\.offset) == [3600, 7200] && file.kinds.map(\.abbreviation) == ["AAA", "BBB"])
        #expect((file.rule != nil) == (version != 0))
        let rules = TimeZoneRules(name: "Test", file: file, digest: 0)
        #expect(
            [999_999, 1_000_000, 1_999_999, 2_000_000].map { rules.span(at: $0).offset } == [3600, 7200, 7200, 3600]
        )
    }

    @Test("a file without a footer keeps its last offset, one without transitions follows its footer")
    func withoutParts() throws {
        var writer = TZifWriter()
        writer.footer = ""
        let rules = TimeZoneRules(name: "Test", file: try TimeZoneFile(writer.bytes()), digest: 0)
        #expect(rules.span(at: 9_000_000_000).offset == 3600 && rules.span(at: 9_000_000_000).end == .max)

        writer.transitions = []
        writer.footer = "AAA-5"
        let ruled = TimeZoneRules(name: "Test", file: try TimeZoneFile(writer.bytes()), digest: 0)
        #expect(ruled.span(at: 0).offset == 18_000 && ruled.kind(at: 0).abbreviation == "AAA")
    }

    @Test("each malformed field is named")
    func malformed() {
        let cases: [(String, (inout TZifWriter) -> Void)] = [
            ("version byte is 53", { $0.version = 0x35 }),
            ("version byte is 49", { $0.version = 0x31 }),
            ("has the type 2 of 2", { $0.transitions[1].kind = 2 }),
            ("is not after", { $0.transitions[1].time = 1_000_000 }),
            ("is not after", { $0.transitions[1].time = 5 }),
            ("impossible time", { $0.transitions[1].time = .max }),
            ("impossible time", { $0.transitions[0].time = .min }),
            ("1 to 256", { $0.kinds = [] }),
            ("1 to 256", { $0.kinds = Array(repeating: $0.kinds[0], count: 257) }),
            ("offset 93600", { $0.kinds[1].offset = 93_600 }),
            ("offset -2147483648", { $0.kinds[1].offset = .min }),
            ("daylight flag 2", { $0.kinds[1].isDaylight = 2 }),
            ("designation of local time type 1 has no end", { $0.kinds[1].name = 8 }),
            ("designation of local time type 1 has no end", { $0.names.removeLast() }),
            ("designation of local time type 0 is malformed", { $0.names[1] = 0x1B }),
            ("designation of local time type 1 is malformed", { $0.kinds[1].name = 6 }),
            ("counts leap seconds", { $0.leapSeconds = [(78_796_800, 1)] }),
            ("1 standard indicators for 2", { $0.standardFlags = [1] }),
            ("1 UT indicators for 2", { $0.utcFlags = [1] }),
            ("neither 0 nor 1", { $0.standardFlags = [0, 2] }),
            ("without its standard indicator", { $0.utcFlags = [1, 0] }),
            ("not a POSIX rule", { $0.footer = "AAA" }),
            ("not a POSIX rule", { $0.footer = "AAA-1BBB" }),
            ("the footer 7200", { $0.footer = "AAA-2" }),
        ]
        for (expected, change) in cases {
            let found = damage(change)
            #expect(found?.contains(expected) == true, "\(expected): \(found ?? "read")")
        }
        #expect(damage { _ in } == nil)
    }

    @Test("a count larger than the file is refused, however large")
    func counts() {
        let bytes = TZifWriter().bytes()
        for header in [0, 51] {
            for field in 0..<6 {
                for value in [0x7FFF_FFFF, 0xFFFF_FFFF, 0x0001_0000] as [UInt32] {
                    var copy = bytes
                    withUnsafeBytes(of: value.bigEndian) { number in
                        copy.replaceSubrange(header + 20 + field * 4..<header + 24 + field * 4, with: number)
                    }
                    #expect(throws: TimeZoneFile.Damage.self) { try TimeZoneFile(copy) }
                }
            }
        }
        #expect(throws: TimeZoneFile.Damage.self) {
            try TimeZoneFile(bytes + Array(repeating: 0, count: TimeZoneFile.bytes))
        }
    }

    @Test("every beginning of a file is refused, and so is anything after its end")
    func truncated() throws {
        let bytes = TZifWriter().bytes()
        for count in 0..<bytes.count {
            #expect(throws: TimeZoneFile.Damage.self) { try TimeZoneFile(Array(bytes.prefix(count))) }
        }
        #expect(throws: TimeZoneFile.Damage.self) { try TimeZoneFile(bytes + [0]) }
    }

    @Test("mutated files are read or refused, and what is read answers", arguments: 0..<8 as Range<UInt64>)
    func fuzz(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let names = ["America/New_York", "Australia/Lord_Howe", "Asia/Gaza", "Europe/Dublin", "Pacific/Apia", "UTC"]
        let files =
            try names.map { name in
                Array(try Data(contentsOf: URL(filePath: "/usr/share/zoneinfo/\(name)")))
            } + [TZifWriter().bytes()]
        let pattern = try CalendarPattern(.init(hour: 2, minute: 30))
        let hourly = try CalendarPattern(.init(minute: 30))
        var counts = (read: 0, refused: 0)
        for _ in 0..<1500 {
            var bytes = files[Int.random(in: 0..<files.count, using: &generator)]
            for _ in 0..<Int.random(in: 1...4, using: &generator) { mutate(&bytes, &generator) }
            guard let file = try? TimeZoneFile(bytes) else {
                counts.refused += 1
                continue
            }
            counts.read += 1
            let zone = TimeZoneRules(name: "Mutated", file: file, digest: 0)
            for pattern in [pattern, hourly] {
                let occurrences = CalendarOccurrences(pattern: pattern, zone: zone, gap: .nextTime, overlap: .both)
                var instant = Int64.random(in: -5_000_000_000..<10_000_000_000, using: &generator)
                let start = instant
                for _ in 0..<4 {
                    let next = try #require(occurrences.next(after: instant))
                    #expect(next > instant)
                    #expect(occurrences.previous(through: next, downTo: start) == next)
                    #expect(occurrences.explain(next) != nil)
                    instant = next
                }
                #expect(occurrences.count(after: start, through: instant) == 4)
            }
        }
        #expect(counts.read > 20 && counts.refused > 100, "\(counts)")
    }

    private func mutate(_ bytes: inout [UInt8], _ generator: inout SeededGenerator) {
        guard !bytes.isEmpty else { return }
        let position = Int.random(in: 0..<bytes.count, using: &generator)
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: bytes.remove(at: position)
        case 1: bytes.insert(UInt8.random(in: 0...255, using: &generator), at: position)
        case 2: bytes[position] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        case 3: bytes.removeLast(min(bytes.count, Int.random(in: 1...20, using: &generator)))
        case 4:
            // The footer is a small part of a file, and its text the most varied.
            let end = max(0, bytes.count - Int.random(in: 1...30, using: &generator))
            bytes[min(end, bytes.count - 1)] =
                Array("0123456789,./MJ<>+-A".utf8)[
                    Int.random(in: 0..<20, using: &generator)
                ]
        default: bytes[position] = UInt8.random(in: 0...255, using: &generator)
        }
    }
}

@Suite("POSIX rules")
struct PosixTimeZoneTests {
    private func read(_ text: String) -> PosixTimeZone? { PosixTimeZone(Array(text.utf8)) }

    @Test(
        "what is no rule is refused",
        arguments: [
            "", "A", "AA0", "EST", "EST5EDT", "EST5EDT,M3.2.0", "EST5EDT,M3.2.0,M11.1.0 ", "EST25", "EST5:60",
            "EST5:00:60",
            "<EST5", "<E>5", "EST5EDT,M13.2.0,M11.1.0", "EST5EDT,M3.0.0,M11.1.0", "EST5EDT,M3.6.0,M11.1.0",
            "EST5EDT,M3.2.7,M11.1.0", "EST5EDT,M3.2.0/168,M11.1.0", "EST5EDT,J0,J365", "EST5EDT,J366,J1",
            "EST5EDT,366,1",
            "EST5EDT,M3.2,M11.1.0", "EST--5", "EST5EDT,M3.2.0,M11.1.0,", "ÄÖÜ5", "EST5EDT99,M3.2.0,M11.1.0",
            "EST5000000000000",
            ":America/New_York", "EST5EDT,M3.2.0/,M11.1.0",
        ]
    )
    func refused(_ text: String) { #expect(read(text) == nil) }

    struct Vector: Sendable {
        let rule: String
        let instant: String
        let offset: Int64
        let name: String
    }

    private static let vectors: [Vector] = [
        .init(rule: "EST5EDT,M3.2.0,M11.1.0", instant: "2100-03-14T06:59:59Z", offset: -18_000, name: "EST"),
        .init(rule: "EST5EDT,M3.2.0,M11.1.0", instant: "2100-03-14T07:00:00Z", offset: -14_400, name: "EDT"),
        .init(rule: "EST5EDT,M3.2.0,M11.1.0", instant: "2100-11-07T05:59:59Z", offset: -14_400, name: "EDT"),
        .init(rule: "EST5EDT,M3.2.0,M11.1.0", instant: "2100-11-07T06:00:00Z", offset: -18_000, name: "EST"),
        // Southern: daylight saving time over the turn of the year.
        .init(rule: "AEST-10AEDT,M10.1.0,M4.1.0/3", instant: "2050-01-01T00:00:00Z", offset: 39_600, name: "AEDT"),
        .init(rule: "AEST-10AEDT,M10.1.0,M4.1.0/3", instant: "2050-07-01T00:00:00Z", offset: 36_000, name: "AEST"),
        // Negative: Dublin's standard time is in summer.
        .init(rule: "IST-1GMT0,M10.5.0,M3.5.0/1", instant: "2050-01-01T00:00:00Z", offset: 0, name: "GMT"),
        .init(rule: "IST-1GMT0,M10.5.0,M3.5.0/1", instant: "2050-07-01T00:00:00Z", offset: 3600, name: "IST"),
        // Times outside of the day: Nuuk the evening before, Jerusalem the Friday after the fourth Thursday.
        .init(rule: "<-02>2<-01>,M3.5.0/-1,M10.5.0/0", instant: "2050-03-27T01:00:00Z", offset: -3600, name: "-01"),
        .init(rule: "<-02>2<-01>,M3.5.0/-1,M10.5.0/0", instant: "2050-03-27T00:59:59Z", offset: -7200, name: "-02"),
        .init(rule: "IST-2IDT,M3.4.4/26,M10.5.0", instant: "2050-03-25T00:00:00Z", offset: 10_800, name: "IDT"),
        .init(rule: "IST-2IDT,M3.4.4/26,M10.5.0", instant: "2050-03-24T23:59:59Z", offset: 7200, name: "IST"),
        // RFC 9636, 3.3.2: daylight saving time all year, in both notations of a day.
        .init(rule: "EST5EDT,0/0,J365/25", instant: "2050-01-01T05:00:00Z", offset: -14_400, name: "EDT"),
        .init(rule: "EST5EDT,0/0,J365/25", instant: "2051-01-01T04:30:00Z", offset: -14_400, name: "EDT"),
        .init(rule: "EST5EDT,0/0,J365/25", instant: "2050-12-31T23:59:59Z", offset: -14_400, name: "EDT"),
        // J60 is 1 March in all years, 59 (from zero) is 29 February in leap years.
        .init(rule: "AAA0BBB,J60/0,J300/0", instant: "2048-02-29T12:00:00Z", offset: 0, name: "AAA"),
        .init(rule: "AAA0BBB,J60/0,J300/0", instant: "2048-03-01T00:00:00Z", offset: 3600, name: "BBB"),
        .init(rule: "AAA0BBB,59/0,J300/0", instant: "2048-02-29T00:00:00Z", offset: 3600, name: "BBB"),
        .init(rule: "AAA-5:30:15BBB-6,J60/0,J300/0", instant: "2048-01-01T00:00:00Z", offset: 19_815, name: "AAA"),
    ]

    @Test("offsets follow the rule", arguments: vectors)
    func vector(_ vector: Vector) throws {
        let rule = try #require(read(vector.rule))
        let kind = rule.kind(at: try at(vector.instant).seconds)
        #expect(kind.offset == vector.offset && kind.abbreviation == vector.name)
    }

    @Test("a period lasts from one change to the next")
    func periods() throws {
        let rule = try #require(read("EST5EDT,M3.2.0,M11.1.0"))
        var period = rule.period(at: 0)
        for _ in 0..<400 {
            let next = rule.period(at: period.end)
            #expect(next.start == period.end && next.kind != period.kind)
            #expect(rule.period(at: next.end - 1) == next)
            period = next
        }
        #expect(try rule.period(at: at("2169-07-01T00:00:00Z").seconds).start == at("2169-03-12T07:00:00Z").seconds)
    }
}
