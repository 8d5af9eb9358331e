/// A TZif file, versions 1 to 4 (RFC 9636; RFC 8536 for versions up to 3), checked whole.
///
/// Leap seconds are refused: instants here have none, and only files below `right/` count them.
struct TimeZoneFile {
    /// Seconds since 1970, strictly ascending.
    let transitions: [Int64]
    /// The kind from each transition on.
    let kindIndexes: [UInt8]
    /// 1 to 256; the first holds before the first transition.
    let kinds: [LocalTimeKind]
    /// What holds from the last transition on; nil when its kind lasts.
    let rule: PosixTimeZone?

    /// The largest file that is read. Those of tzdata 2025b have at most 3,872 bytes.
    static let bytes = 64 * 1024

    /// What is wrong with a file.
    struct Damage: Error, Hashable {
        let detail: String
    }

    /// Reads the bytes of a file. Throws at the first malformed field and names it.
    init(_ bytes: [UInt8]) throws(Damage) {
        guard bytes.count <= Self.bytes else {
            throw Damage(detail: "it has \(bytes.count) bytes, more than \(Self.bytes)")
        }
        var reader = Reader(bytes: bytes)
        let first = try Header(&reader)
        guard first.version >= 2 else {
            let block = try Block(&reader, first, timeBytes: 4)
            try reader.end()
            (transitions, kindIndexes, kinds, rule) = (block.transitions, block.kindIndexes, block.kinds, nil)
            return
        }
        // The first block repeats in 32 bits what the second has in 64.
        try reader.skip(first.bytes(timeBytes: 4), "the 32-bit data block")
        let second = try Header(&reader)
        guard second.version == first.version else { throw Damage(detail: "its two headers differ in their version") }
        let block = try Block(&reader, second, timeBytes: 8)
        (transitions, kindIndexes, kinds) = (block.transitions, block.kindIndexes, block.kinds)
        rule = try Self.footer(&reader)
        try reader.end()
        if let rule, let last = transitions.last, let index = kindIndexes.last {
            // RFC 9636, 3.3: they must agree where one follows the other.
            let (data, footer) = (kinds[Int(index)], rule.kind(at: last))
            guard data.offset == footer.offset else {
                throw Damage(
                    detail: "the last transition has the offset \(data.offset), the footer \(footer.offset)"
                )
            }
        }
    }

    private static func footer(_ reader: inout Reader) throws(Damage) -> PosixTimeZone? {
        guard try reader.byte("the footer") == 0x0A else {
            throw Damage(detail: "the footer does not begin with a new line")
        }
        let rest = reader.rest
        guard let end = rest.firstIndex(of: 0x0A) else {
            throw Damage(detail: "the footer does not end with a new line")
        }
        let text = rest[..<end]
        try reader.skip(text.count + 1, "the footer")
        guard !text.isEmpty else { return nil }
        guard let rule = PosixTimeZone(text) else {
            let shown = String(decoding: text.prefix(64), as: UTF8.self)
            throw Damage(detail: "the footer is not a POSIX rule: \(PrintableText.escaped(shown))")
        }
        return rule
    }

    // MARK: - Parts

    /// A header of 44 bytes.
    private struct Header {
        let version: Int
        let transitions: Int
        let kinds: Int
        let characters: Int
        let leapSeconds: Int
        let standardFlags: Int
        let utcFlags: Int

        init(_ reader: inout Reader) throws(Damage) {
            for expected in [0x54, 0x5A, 0x69, 0x66] as [UInt8] {
                guard try reader.byte("the header") == expected else {
                    throw Damage(detail: "it does not begin with TZif")
                }
            }
            let digit = try reader.byte("the version")
            switch digit {
            case 0: version = 1
            case 0x32...0x34: version = Int(digit - 0x30)
            default: throw Damage(detail: "its version byte is \(digit)")
            }
            try reader.skip(15, "the header")
            utcFlags = try reader.count("the count of UT indicators")
            standardFlags = try reader.count("the count of standard indicators")
            leapSeconds = try reader.count("the count of leap seconds")
            transitions = try reader.count("the count of transitions")
            kinds = try reader.count("the count of local time types")
            characters = try reader.count("the count of designation characters")
        }

        func bytes(timeBytes: Int) -> Int {
            transitions * (timeBytes + 1) + kinds * 6 + characters + leapSeconds * (timeBytes + 4)
                + standardFlags + utcFlags
        }
    }

    /// A data block.
    private struct Block {
        let transitions: [Int64]
        let kindIndexes: [UInt8]
        let kinds: [LocalTimeKind]

        init(_ reader: inout Reader, _ header: Header, timeBytes: Int) throws(Damage) {
            guard (1...256).contains(header.kinds) else {
                throw Damage(detail: "it has \(header.kinds) local time types, must have 1 to 256")
            }
            guard header.leapSeconds == 0 else { throw Damage(detail: "it counts leap seconds") }
            for (name, count) in [("standard", header.standardFlags), ("UT", header.utcFlags)] {
                guard count == 0 || count == header.kinds else {
                    throw Damage(detail: "it has \(count) \(name) indicators for \(header.kinds) local time types")
                }
            }
            guard header.bytes(timeBytes: timeBytes) <= reader.rest.count else {
                throw Damage(detail: "it ends before its data")
            }
            transitions = try Self.transitions(&reader, header.transitions, timeBytes)
            var indexes: [UInt8] = []
            for number in 0..<header.transitions {
                let index = try reader.byte("a transition type")
                guard index < header.kinds else {
                    throw Damage(detail: "transition \(number) has the type \(index) of \(header.kinds)")
                }
                indexes.append(index)
            }
            kindIndexes = indexes
            kinds = try Self.kinds(&reader, header)
            let standard = try reader.take(header.standardFlags, "the standard indicators")
            let utc = try reader.take(header.utcFlags, "the UT indicators")
            guard standard.allSatisfy({ $0 <= 1 }), utc.allSatisfy({ $0 <= 1 }) else {
                throw Damage(detail: "an indicator is neither 0 nor 1")
            }
            // RFC 9636, 3.2: a UT indicator needs its standard indicator.
            guard zip(utc, Array(standard) + Array(repeating: 0, count: utc.count)).allSatisfy({ $0 <= $1 }) else {
                throw Damage(detail: "a UT indicator is set without its standard indicator")
            }
        }

        private static func transitions(
            _ reader: inout Reader,
            _ count: Int,
            _ timeBytes: Int
        ) throws(Damage) -> [Int64] {
            var times: [Int64] = []
            times.reserveCapacity(count)
            for number in 0..<count {
                let time = try reader.integer(timeBytes, "a transition time")
                // RFC 9636, 3.2: times before -2^59 are not allowed; the same bound for late ones prevents overflow.
                guard time.magnitude <= 1 << 59 else {
                    throw Damage(detail: "transition \(number) has the impossible time \(time)")
                }
                if let last = times.last, last >= time {
                    throw Damage(detail: "transition \(number) is not after the one before it")
                }
                times.append(time)
            }
            return times
        }

        private static func kinds(_ reader: inout Reader, _ header: Header) throws(Damage) -> [LocalTimeKind] {
            var records: [(offset: Int64, isDaylight: Bool, name: Int)] = []
            for number in 0..<header.kinds {
                let offset = try reader.integer(4, "a local time type")
                guard LocalTimeKind.offsets.contains(offset) else {
                    throw Damage(detail: "local time type \(number) has the offset \(offset)")
                }
                let isDaylight = try reader.byte("a local time type")
                guard isDaylight <= 1 else {
                    throw Damage(detail: "local time type \(number) has the daylight flag \(isDaylight)")
                }
                records.append((offset, isDaylight == 1, Int(try reader.byte("a local time type"))))
            }
            let characters = Array(try reader.take(header.characters, "the designations"))
            var kinds: [LocalTimeKind] = []
            for (number, record) in records.enumerated() {
                guard record.name < characters.count, let end = characters[record.name...].firstIndex(of: 0) else {
                    throw Damage(detail: "the designation of local time type \(number) has no end")
                }
                let name = characters[record.name..<end]
                guard (3...16).contains(name.count),
                    name.allSatisfy({ LocalTimeKind.isAbbreviation($0, signs: true) })
                else { throw Damage(detail: "the designation of local time type \(number) is malformed") }
                kinds.append(
                    LocalTimeKind(
                        offset: record.offset,
                        isDaylight: record.isDaylight,
                        abbreviation: String(decoding: name, as: UTF8.self)
                    )
                )
            }
            return kinds
        }
    }

    /// Reads big-endian numbers, never past the end.
    private struct Reader {
        let bytes: [UInt8]
        var position = 0

        var rest: ArraySlice<UInt8> { bytes[position...] }

        mutating func take(_ count: Int, _ what: String) throws(Damage) -> ArraySlice<UInt8> {
            guard count <= bytes.count - position else { throw Damage(detail: "it ends inside \(what)") }
            defer { position += count }
            return bytes[position..<position + count]
        }

        mutating func skip(_ count: Int, _ what: String) throws(Damage) {
            _ = try take(count, what)
        }

        mutating func byte(_ what: String) throws(Damage) -> UInt8 {
            guard position < bytes.count else { throw Damage(detail: "it ends inside \(what)") }
            defer { position += 1 }
            return bytes[position]
        }

        /// A signed integer of 4 or 8 bytes.
        mutating func integer(_ count: Int, _ what: String) throws(Damage) -> Int64 {
            let raw = try take(count, what).reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
            return count == 4 ? Int64(Int32(truncatingIfNeeded: raw)) : Int64(bitPattern: raw)
        }

        /// A count, no larger than the file: all of its items take a byte at least.
        mutating func count(_ what: String) throws(Damage) -> Int {
            let value = try take(4, what).reduce(0) { $0 << 8 | Int($1) }
            guard value <= bytes.count else { throw Damage(detail: "\(what) is \(value), more than its bytes") }
            return value
        }

        func end() throws(Damage) {
            guard position == bytes.count else {
                throw Damage(detail: "\(bytes.count - position) bytes follow its end")
            }
        }
    }
}
