/// One occurrence of a calendar trigger, explained: for people who ask why it is when it is.
public struct CalendarOccurrence: Hashable, Sendable {
    /// How the wall-clock time became an instant.
    public enum Resolution: Hashable, Sendable {
        /// The clock shows the time once.
        case exact
        /// The clock leaves the time out. It shows a time that is `seconds` later than the wanted one, which is the gap's
        /// length; negative for ``GapPolicy/previous``.
        case gap(policy: GapPolicy, seconds: Int)
        /// The clock shows the time twice, `seconds` apart, and this is the first or the last of the two.
        case overlap(isFirst: Bool, seconds: Int)
    }

    /// The instant.
    public let instant: Timestamp
    /// The zone's name.
    public let zone: String
    /// Seconds east of UTC at the instant.
    public let offset: Int
    /// The zone's name for that offset: `CET`, `+0330`.
    public let abbreviation: String
    /// Whether that is daylight saving time.
    public let isDaylightSavingTime: Bool
    /// What the clock shows at the instant.
    public let local: LocalDateTime
    /// The date and time that the components ask for, after ``missingDay``.
    public let wanted: LocalDateTime
    /// How the one became the other.
    public let resolution: Resolution
    /// The policy that moved the date, if the month has no such day.
    public let missingDay: MissingDayPolicy?
}

extension CalendarSchedule {
    /// Explains an occurrence; nil for an instant that is none.
    public func explain(_ instant: Timestamp) -> CalendarOccurrence? {
        guard instant >= first, repeats || instant == first, instant.rawValue % 1000 == 0 else { return nil }
        return occurrences.explain(instant.seconds)
    }
}

extension CalendarOccurrences {
    func explain(_ instant: Int64) -> CalendarOccurrence? {
        guard Self.bounds.contains(instant) else { return nil }
        let kind = zone.kind(at: instant)
        let local = instant + kind.offset
        guard !pattern.isOfAnyHour else {
            let passed = GregorianCalendar.remainder(local - pattern.second, by: pattern.period)
            guard passed == 0 else { return nil }
            return occurrence(instant, kind, wanted: local, day: nil, resolution(of: local, at: instant))
        }
        // Two times can have their occurrence at one instant: the one without a gap explains it better.
        var answer: CalendarOccurrence?
        var wall = local - 3 * GregorianCalendar.secondsOfDay
        let last = local + 3 * GregorianCalendar.secondsOfDay
        while let time = pattern.next(fromTime: wall, through: last) {
            if instants(of: time).contains(instant), answer == nil || time == local {
                let day = GregorianCalendar.floor(time, by: GregorianCalendar.secondsOfDay)
                answer = occurrence(instant, kind, wanted: time, day: day, resolution(of: time, at: instant))
            }
            wall = time + 1
        }
        return answer
    }

    private func resolution(of wall: Int64, at instant: Int64) -> CalendarOccurrence.Resolution {
        switch zone.instants(of: wall) {
        case .once: .exact
        case .gap: .gap(policy: gap, seconds: Int(instant + zone.span(at: instant).offset - wall))
        case .overlap(let first, let last): .overlap(isFirst: instant == first, seconds: Int(last - first))
        }
    }

    private func occurrence(
        _ instant: Int64,
        _ kind: LocalTimeKind,
        wanted: Int64,
        day: Int64?,
        _ resolution: CalendarOccurrence.Resolution
    ) -> CalendarOccurrence {
        CalendarOccurrence(
            instant: Timestamp(seconds: instant),
            zone: zone.name,
            offset: Int(kind.offset),
            abbreviation: kind.abbreviation,
            isDaylightSavingTime: kind.isDaylight,
            local: LocalDateTime(seconds: instant + kind.offset),
            wanted: LocalDateTime(seconds: wanted),
            resolution: resolution,
            missingDay: day.map(pattern.isMoved) == true ? pattern.missingDay : nil
        )
    }
}

extension CalendarOccurrence: CustomStringConvertible {
    /// One line for a terminal: the instant, the local time with its offset, the zone, and what a policy did.
    public var description: String {
        var text = "\(instant)  \(local)\(Self.offset(offset)) \(abbreviation) \(zone)"
        switch resolution {
        case .exact: break
        case .gap(let policy, let seconds):
            let direction = seconds < 0 ? "back" : "forward"
            text += "; \(wanted) does not exist: \(direction) by \(abs(seconds)) s (gap \(policy.rawValue))"
        case .overlap(let isFirst, let seconds):
            text += "; the \(isFirst ? "first" : "last") of two, \(seconds) s apart"
        }
        if let missingDay { text += "; the month has no such day (missingDay \(missingDay.rawValue))" }
        return text
    }

    /// `+05:30`, with seconds only where there are some.
    private static func offset(_ offset: Int) -> String {
        let value = abs(offset)
        let parts = [value / 3600, value / 60 % 60] + (value % 60 == 0 ? [] : [value % 60])
        return (offset < 0 ? "-" : "+") + parts.map { LocalDateTime.digits($0, 2) }.joined(separator: ":")
    }
}
