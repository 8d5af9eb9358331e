/// The rule for times after the last transition of a TZif file: its footer, a POSIX `TZ` string with the extensions of
/// RFC 9636, 3.3.2 (hours from -167 to 167). All offsets are seconds east of UTC.
struct PosixTimeZone: Hashable, Sendable {
    /// When daylight saving time begins or ends: a date, and seconds from its midnight on the clock before the change.
    struct Change: Hashable, Sendable {
        enum Date: Hashable, Sendable {
            /// `Jn`: 1 to 365, never counting 29 February.
            case julian(Int64)
            /// `n`: 0 to 365, counting it.
            case zeroBased(Int64)
            /// `Mm.w.d`: week 1 to 5 (5 is the last), weekday 0 (Sunday) to 6.
            case weekday(month: Int64, week: Int64, weekday: Int64)
        }

        let date: Date
        let time: Int64

        /// Seconds from 1970-01-01T00:00:00 on the wall clock.
        func wall(in year: Int64) -> Int64 {
            let day: Int64
            switch date {
            case .julian(let number):
                let skipped: Int64 = number >= 60 && GregorianCalendar.isLeap(year) ? 1 : 0
                day = GregorianCalendar.day(year, 1, 1) + number - 1 + skipped
            case .zeroBased(let number):
                day = GregorianCalendar.day(year, 1, 1) + number
            case .weekday(let month, let week, let weekday):
                let first = GregorianCalendar.day(year, month, 1)
                let toWeekday = GregorianCalendar.remainder(weekday + 1 - GregorianCalendar.weekday(of: first), by: 7)
                var number = toWeekday + 7 * week - 7
                if number >= Timestamp.days(in: month, of: year) { number -= 7 }
                day = first + number
            }
            return day * GregorianCalendar.secondsOfDay + time
        }
    }

    struct Daylight: Hashable, Sendable {
        let kind: LocalTimeKind
        let start: Change
        let end: Change
    }

    let standard: LocalTimeKind
    let daylight: Daylight?

    /// The period of one offset around an instant, in seconds since 1970. Its bounds are the changes of the rule.
    func period(at instant: Int64) -> TimeZonePeriod {
        guard let daylight else { return TimeZonePeriod(start: .min, end: .max, kind: standard) }
        let year = Timestamp.date(ofDay: GregorianCalendar.floor(instant, by: GregorianCalendar.secondsOfDay)).year
        var period = TimeZonePeriod(start: .min, end: .max, kind: standard)
        // A change may be a week away from its year (hours up to 167), so the neighbours count too.
        for year in year - 1...year + 1 {
            let toDaylight = daylight.start.wall(in: year) - standard.offset
            let toStandard = daylight.end.wall(in: year) - daylight.kind.offset
            // Of two changes at one instant the later year's counts: in a rule of daylight saving time all year, the
            // next one begins where the last one ends.
            period.narrow(around: instant, toStandard, standard)
            period.narrow(around: instant, toDaylight, daylight.kind)
        }
        return period
    }

    /// What the clock shows at an instant.
    func kind(at instant: Int64) -> LocalTimeKind { period(at: instant).kind }
}

extension TimeZonePeriod {
    /// Moves a bound to a change of the offset that is nearer to the instant.
    fileprivate mutating func narrow(around instant: Int64, _ change: Int64, _ kind: LocalTimeKind) {
        if change > instant {
            end = min(end, change)
        } else if change >= start {
            (start, self.kind) = (change, kind)
        }
    }
}

// MARK: - Reading

extension PosixTimeZone {
    /// Reads the text of a footer, without its line ends; nil if it is not such a rule. At most a few dozen bytes.
    init?(_ text: some Collection<UInt8>) {
        var reader = Reader(bytes: Array(text))
        guard let name = reader.name(), let offset = reader.offset(hours: 24) else { return nil }
        standard = LocalTimeKind(offset: -offset, isDaylight: false, abbreviation: name)
        guard !reader.isAtEnd else {
            daylight = nil
            return
        }
        guard let name = reader.name() else { return nil }
        var daylightOffset = standard.offset + 3600
        if reader.peek() != 0x2C {
            guard let offset = reader.offset(hours: 24) else { return nil }
            daylightOffset = -offset
        }
        guard let start = reader.change(), let end = reader.change(), reader.isAtEnd else { return nil }
        let kind = LocalTimeKind(offset: daylightOffset, isDaylight: true, abbreviation: name)
        daylight = Daylight(kind: kind, start: start, end: end)
    }

    private struct Reader {
        let bytes: [UInt8]
        var position = 0

        var isAtEnd: Bool { position == bytes.count }

        func peek() -> UInt8? { position < bytes.count ? bytes[position] : nil }

        mutating func take(_ byte: UInt8) -> Bool {
            guard peek() == byte else { return false }
            position += 1
            return true
        }

        /// An abbreviation of 3 to 16 letters, or in angle brackets of letters, digits and signs.
        mutating func name() -> String? {
            let isQuoted = take(0x3C)
            let start = position
            while let byte = peek(), LocalTimeKind.isAbbreviation(byte, signs: isQuoted) { position += 1 }
            let name = bytes[start..<position]
            guard (3...16).contains(name.count), !isQuoted || take(0x3E) else { return nil }
            return String(decoding: name, as: UTF8.self)
        }

        mutating func number(_ range: ClosedRange<Int64>) -> Int64? {
            var (value, digits): (Int64, Int) = (0, 0)
            while let byte = peek(), (0x30...0x39).contains(byte), digits < 3 {
                value = value * 10 + Int64(byte - 0x30)
                position += 1
                digits += 1
            }
            return digits > 0 && range.contains(value) ? value : nil
        }

        /// `[+-]hh[:mm[:ss]]` in seconds.
        mutating func offset(hours: Int64) -> Int64? {
            let isNegative = take(0x2D)
            if !isNegative { _ = take(0x2B) }
            guard var value = number(0...hours).map({ $0 * 3600 }) else { return nil }
            if take(0x3A) {
                guard let minutes = number(0...59) else { return nil }
                value += minutes * 60
                if take(0x3A) {
                    guard let seconds = number(0...59) else { return nil }
                    value += seconds
                }
            }
            return isNegative ? -value : value
        }

        /// `,date[/time]`.
        mutating func change() -> Change? {
            guard take(0x2C), let date = date() else { return nil }
            guard take(0x2F) else { return Change(date: date, time: 7200) }
            guard let time = offset(hours: 167) else { return nil }
            return Change(date: date, time: time)
        }

        private mutating func date() -> Change.Date? {
            if take(0x4A) { return number(1...365).map { .julian($0) } }
            guard take(0x4D) else { return number(0...365).map { .zeroBased($0) } }
            guard let month = number(1...12), take(0x2E), let week = number(1...5), take(0x2E),
                let weekday = number(0...6)
            else { return nil }
            return .weekday(month: month, week: week, weekday: weekday)
        }
    }
}
