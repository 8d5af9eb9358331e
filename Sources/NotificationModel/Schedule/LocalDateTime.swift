/// What a calendar and a clock on the wall show, without a time zone.
public struct LocalDateTime: Hashable, Sendable, CustomStringConvertible {
    /// Proleptic Gregorian, with a year 0.
    public let year: Int
    /// 1 to 12.
    public let month: Int
    /// 1 to 31.
    public let day: Int
    /// 0 to 23.
    public let hour: Int
    /// 0 to 59.
    public let minute: Int
    /// 0 to 59.
    public let second: Int

    /// The date and time that is this many seconds after 1970-01-01T00:00:00 on the same clock.
    init(seconds: Int64) {
        let days = GregorianCalendar.floor(seconds, by: GregorianCalendar.secondsOfDay)
        let rest = Int(seconds - days * GregorianCalendar.secondsOfDay)
        let date = Timestamp.date(ofDay: days)
        (year, month, day) = (Int(date.year), Int(date.month), Int(date.day))
        (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60)
    }

    /// `2026-03-08T02:30:00`.
    public var description: String {
        "\(Self.digits(year, 4))-\(Self.digits(month, 2))-\(Self.digits(day, 2))"
            + "T\(Self.digits(hour, 2)):\(Self.digits(minute, 2)):\(Self.digits(second, 2))"
    }

    static func digits(_ value: Int, _ count: Int) -> String {
        let text = String(value.magnitude)
        return (value < 0 ? "-" : "") + String(repeating: "0", count: max(0, count - text.count)) + text
    }
}
