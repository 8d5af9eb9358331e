/// An instant in milliseconds since 1970-01-01T00:00:00Z, without leap seconds.
///
/// Its text and coded form is RFC 3339 in UTC with milliseconds, `2026-11-21T09:00:00.000Z`.
public struct Timestamp: RawRepresentable, Comparable, Hashable, Sendable {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    public let rawValue: Int64

    /// The earliest instant with a text form: 0000-01-01T00:00:00.000Z.
    public static let earliest = Timestamp(rawValue: -62_167_219_200_000)
    /// The latest instant with a text form: 9999-12-31T23:59:59.999Z.
    public static let latest = Timestamp(rawValue: 253_402_300_799_999)

    /// An instant from milliseconds since 1970-01-01T00:00:00Z.
    public init(rawValue: Int64) {
        self.rawValue = rawValue
    }

    /// Reads RFC 3339 with any offset; digits below a millisecond are cut off. Nil for invalid text.
    public init?(rfc3339 text: some StringProtocol) {
        var copy = String(text)
        let read = copy.withUTF8 { Timestamp(rfc3339: UnsafeRawBufferPointer($0)) }
        guard let read else { return nil }
        self = read
    }

    /// Reads RFC 3339 from UTF-8 bytes, as ``init(rfc3339:)-(StringProtocol)``.
    public init?(rfc3339 bytes: [UInt8]) {
        let read = bytes.withUnsafeBytes { Timestamp(rfc3339: $0) }
        guard let read else { return nil }
        self = read
    }

    /// Reads RFC 3339 from borrowed UTF-8 bytes, as ``init(rfc3339:)-(StringProtocol)``.
    public init?(rfc3339 bytes: UnsafeRawBufferPointer) {
        // 2026-11-21T09:00:00Z is the shortest form.
        guard bytes.count >= 20, bytes.count <= 64 else { return nil }
        func number(_ start: Int, _ digits: Int) -> Int64? {
            var value: Int64 = 0
            for index in start..<start + digits {
                let digit = bytes[index] &- 0x30
                guard digit <= 9 else { return nil }
                value = value * 10 + Int64(digit)
            }
            return value
        }
        guard let year = number(0, 4), bytes[4] == 0x2D, let month = number(5, 2), bytes[7] == 0x2D,
            let day = number(8, 2), bytes[10] | 0x20 == 0x74, let hour = number(11, 2), bytes[13] == 0x3A,
            let minute = number(14, 2), bytes[16] == 0x3A, let second = number(17, 2)
        else { return nil }
        guard (1...12).contains(month), day >= 1, day <= Self.days(in: month, of: year), hour <= 23, minute <= 59,
            second <= 60
        else { return nil }

        var index = 19
        var milliseconds: Int64 = 0
        if bytes[index] == 0x2E {
            index += 1
            var scale: Int64 = 100
            let first = index
            while index < bytes.count, bytes[index] &- 0x30 <= 9 {
                milliseconds += Int64(bytes[index] &- 0x30) * scale
                scale /= 10
                index += 1
            }
            guard index > first else { return nil }
        }
        guard index < bytes.count else { return nil }

        var offset: Int64 = 0
        switch bytes[index] {
        case 0x5A, 0x7A:
            guard index + 1 == bytes.count else { return nil }
        case 0x2B, 0x2D:
            guard index + 6 == bytes.count, bytes[index + 3] == 0x3A, let hours = number(index + 1, 2),
                let minutes = number(index + 4, 2), hours <= 23, minutes <= 59
            else { return nil }
            offset = (hours * 60 + minutes) * (bytes[index] == 0x2B ? 1 : -1)
        default:
            return nil
        }

        let minuteOfEpoch = (Self.daysFromEpoch(year, month, day) * 24 + hour) * 60 + minute - offset
        if second == 60 {
            // A leap second exists only at the end of a UTC day; it reads as the first instant of the next one.
            guard (minuteOfEpoch + 1) % 1440 == 0 else { return nil }
            milliseconds = 0
        }
        let value = (minuteOfEpoch * 60 + second) * 1000 + milliseconds
        guard (Self.earliest.rawValue...Self.latest.rawValue).contains(value) else { return nil }
        rawValue = value
    }

    /// RFC 3339 in UTC with milliseconds. An instant outside the years 0000 to 9999 is written as the nearest one inside.
    public var rfc3339: String {
        var out: [UInt8] = []
        write(to: &out)
        return String(decoding: out, as: UTF8.self)
    }

    /// Appends the 24 bytes of ``rfc3339``.
    public func write(to out: inout [UInt8]) {
        let value = min(max(rawValue, Self.earliest.rawValue), Self.latest.rawValue)
        var (seconds, milliseconds) = value.quotientAndRemainder(dividingBy: 1000)
        if milliseconds < 0 {
            seconds -= 1
            milliseconds += 1000
        }
        var (days, secondOfDay) = seconds.quotientAndRemainder(dividingBy: 86_400)
        if secondOfDay < 0 {
            days -= 1
            secondOfDay += 86_400
        }
        let (year, month, day) = Self.date(ofDay: days)
        let time = UInt32(truncatingIfNeeded: secondOfDay)
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 24) { buffer in
            func pair(_ index: Int, _ value: UInt32, _ separator: UInt8) {
                buffer[index] = 0x30 &+ UInt8(truncatingIfNeeded: value / 10)
                buffer[index &+ 1] = 0x30 &+ UInt8(truncatingIfNeeded: value % 10)
                buffer[index &+ 2] = separator
            }
            let year = UInt32(truncatingIfNeeded: year)
            pair(0, year / 100, 0)
            pair(2, year % 100, 0x2D)
            pair(5, UInt32(truncatingIfNeeded: month), 0x2D)
            pair(8, UInt32(truncatingIfNeeded: day), 0x54)
            pair(11, time / 3600, 0x3A)
            pair(14, time / 60 % 60, 0x3A)
            pair(17, time % 60, 0x2E)
            let fraction = UInt32(truncatingIfNeeded: milliseconds)
            buffer[20] = 0x30 &+ UInt8(truncatingIfNeeded: fraction / 100)
            pair(21, fraction % 100, 0x5A)
            out.append(contentsOf: buffer)
        }
    }

    /// The instant this many milliseconds later (earlier when negative), clamped to the range of `Int64`.
    public func adding(milliseconds: Int64) -> Timestamp {
        let (sum, overflow) = rawValue.addingReportingOverflow(milliseconds)
        return Timestamp(rawValue: overflow ? (milliseconds < 0 ? .min : .max) : sum)
    }

    /// Earlier instants are smaller.
    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.rawValue < right.rawValue
    }
}

extension Timestamp {
    /// Days of a month in the proleptic Gregorian calendar.
    static func days(in month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        default: 31
        }
    }

    /// Days from 1970-01-01 to a proleptic Gregorian date, counted in years that begin with March.
    static func daysFromEpoch(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    /// The date of a day counted from 1970-01-01.
    static func date(ofDay days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }
}

extension Timestamp: CustomStringConvertible {
    /// The same as ``rfc3339``.
    public var description: String { rfc3339 }
}

extension Timestamp: Codable {
    /// Reads an RFC 3339 string.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let read = Timestamp(rfc3339: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "expected an RFC 3339 date and time"
            )
        }
        self = read
    }

    /// Writes an RFC 3339 string in UTC with milliseconds.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rfc3339)
    }
}
