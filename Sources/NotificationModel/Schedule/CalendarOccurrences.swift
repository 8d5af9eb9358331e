/// The instants at which a zone's clock shows what a pattern asks for. All instants are whole seconds since 1970.
///
/// With the hour set, each matching date has one wall-clock time, whose instants follow from the zone and the policies for
/// gaps and overlaps. Without it, occurrences are all instants whose minute and second match.
struct CalendarOccurrences: Hashable, Sendable {
    let pattern: CalendarPattern
    let zone: TimeZoneRules
    let gap: GapPolicy
    let overlap: OverlapPolicy

    /// How far a search looks: 60 years of 365.25 days. What is not found in it never occurs (contracts, calendar).
    static let horizon: Int64 = 21_915 * GregorianCalendar.secondsOfDay
    static let bounds = Timestamp.earliest.seconds...Timestamp.latest.seconds

    /// Two instants that are this far from a change of the offset, on the same side, differ as their wall-clock times do,
    /// whatever the changes beyond: more than ``TimeZoneRules/reach`` for both of them.
    private static let margin: Int64 = 3 * GregorianCalendar.secondsOfDay

    init(pattern: CalendarPattern, zone: TimeZoneRules, gap: GapPolicy, overlap: OverlapPolicy) {
        (self.pattern, self.zone, self.gap, self.overlap) = (pattern, zone, gap, overlap)
    }

    /// Those of a trigger, with its default policies. Throws as ``CalendarSchedule/check(_:)``.
    init(_ trigger: CalendarTrigger, zone: TimeZoneRules) throws(ModelError) {
        self.init(
            pattern: try CalendarPattern(trigger.dateComponents, missingDay: trigger.missingDay),
            zone: zone,
            gap: trigger.gap ?? .nextTime,
            overlap: trigger.overlap ?? .first
        )
    }

    // MARK: - Search

    /// The first occurrence after an instant, within the horizon.
    func next(after start: Int64) -> Int64? {
        guard Self.bounds.contains(start) else {
            return start < Self.bounds.lowerBound ? next(after: Self.bounds.lowerBound) : nil
        }
        let limit = min(start + Self.horizon, Self.bounds.upperBound)
        guard pattern.period == GregorianCalendar.secondsOfDay else { return nextInHour(after: start, through: limit) }

        let span = zone.span(at: start)
        let wall = start + span.offset
        var day = GregorianCalendar.floor(wall, by: GregorianCalendar.secondsOfDay)
        if Self.isCalm(start, in: span) {
            if wall - day * GregorianCalendar.secondsOfDay >= pattern.secondOfPeriod { day += 1 }
        } else {
            // Near a change of the offset earlier dates may resolve to later instants.
            day -= 3
        }
        let lastDay = GregorianCalendar.floor(limit, by: GregorianCalendar.secondsOfDay) + 2
        var best: Int64?
        while let date = pattern.next(from: day, through: lastDay) {
            let wall = date * GregorianCalendar.secondsOfDay + pattern.secondOfPeriod
            // No later date resolves to an earlier instant.
            if let best, wall - TimeZoneRules.reach > best { break }
            let instant = wall - span.offset
            if Self.isCalm(instant, in: span) {
                if instant > start { return bounded(min(instant, best ?? instant), limit) }
            } else {
                for instant in instants(of: wall) where instant > start && instant < best ?? .max { best = instant }
            }
            day = date + 1
        }
        return best.flatMap { bounded($0, limit) }
    }

    /// The last occurrence up to an instant, and not before `floor`.
    func previous(through end: Int64, downTo floor: Int64) -> Int64? {
        let end = min(end, Self.bounds.upperBound)
        let floor = max(floor, Self.bounds.lowerBound)
        guard end >= floor else { return nil }
        guard pattern.period == GregorianCalendar.secondsOfDay else {
            return previousInHour(through: end, downTo: floor)
        }

        let span = zone.span(at: end)
        var day = GregorianCalendar.floor(end + span.offset, by: GregorianCalendar.secondsOfDay)
        if !Self.isCalm(end, in: span) { day += 3 }
        let lastDay = GregorianCalendar.floor(floor, by: GregorianCalendar.secondsOfDay) - 2
        var best: Int64?
        while let date = pattern.previous(from: day, through: lastDay) {
            let wall = date * GregorianCalendar.secondsOfDay + pattern.secondOfPeriod
            if let best, wall + TimeZoneRules.reach < best { break }
            let instant = wall - span.offset
            if Self.isCalm(instant, in: span) {
                if instant <= end {
                    best = max(instant, best ?? instant)
                    break
                }
            } else {
                for instant in instants(of: wall) where instant <= end && instant > best ?? .min { best = instant }
            }
            day = date - 1
        }
        return best.flatMap { $0 >= floor ? $0 : nil }
    }

    /// How many occurrences there are after `start` and up to `end`.
    ///
    /// Skips the equal steps between two changes of the offset, so the cost grows with the changes, or with the occurrences
    /// of patterns that have at most one a month.
    func count(after start: Int64, through end: Int64) -> Int {
        var count = 0
        var last = start
        while last < end, let next = next(after: last), next <= end {
            count += 1
            last = next
            guard let step = pattern.step else { continue }
            let span = zone.span(at: next)
            let isWithinHour = pattern.period < GregorianCalendar.secondsOfDay
            guard isWithinHour || Self.isCalm(next, in: span) else { continue }
            let calmEnd = isWithinHour ? span.end : span.end - Self.margin
            let steps = (min(end, calmEnd - 1) - next) / step
            guard steps > 0 else { continue }
            count += Int(steps)
            last = next + steps * step
        }
        return count
    }

    /// The occurrence in the place of one that was planned when the zone had other rules, and that offset; see
    /// ``CalendarSchedule/replanned(_:)``. Nil when there is none within the horizon.
    func replanned(_ instant: Int64, offset: Int64) -> Int64? {
        // Without an hour the clock shows the time again within the hour, whatever its offset.
        guard pattern.period == GregorianCalendar.secondsOfDay else { return next(after: instant - 1) }
        let local = instant + offset
        let day = GregorianCalendar.floor(local, by: GregorianCalendar.secondsOfDay)
        let limit = day + Self.horizon / GregorianCalendar.secondsOfDay
        // A policy for gaps may have moved the time away from the one that was asked for, by less than half a day, or by
        // a day that the zone lacks, which is then the next one's time.
        let before = pattern.previous(from: day, through: day - 2)
        var date = pattern.next(from: before.map { $0 + 1 } ?? day - 2, through: limit)
        if let before {
            let distance = { abs(wall(on: $0) - local) }
            if date.map({ distance(before) <= distance($0) }) ?? true { date = before }
        }
        while let candidate = date {
            let found = Array(instants(of: wall(on: candidate)))
            if let same = found.last(where: { zone.span(at: $0).offset == offset }) ?? found.first { return same }
            date = pattern.next(from: candidate + 1, through: limit)
        }
        return nil
    }

    private func wall(on date: Int64) -> Int64 {
        date * GregorianCalendar.secondsOfDay + pattern.secondOfPeriod
    }

    // MARK: - Instants of a wall-clock time

    /// The instants of a wall-clock time after the policies: none to two, ascending.
    func instants(of wall: Int64) -> some Sequence<Int64> {
        let (first, second): (Int64?, Int64?) =
            switch zone.instants(of: wall) {
            case .once(let instant): (instant, nil)
            case .gap(let before, let after):
                switch gap {
                // The offset before the gap puts the time as far behind the gap as it lies in it.
                case .nextTime: (wall - before, nil)
                case .previous: (wall - after, nil)
                case .skip: (nil, nil)
                }
            case .overlap(let first, let last):
                switch overlap {
                case .first: (first, nil)
                case .last: (last, nil)
                case .both: (first, last)
                }
            }
        return Instants(first: first, second: second)
    }

    private struct Instants: Sequence, IteratorProtocol {
        var first: Int64?
        var second: Int64?

        mutating func next() -> Int64? {
            defer { (first, second) = (second, nil) }
            return first
        }
    }

    private static func isCalm(_ instant: Int64, in span: TimeZoneSpan) -> Bool {
        // Neither bound can overflow: only the missing ones are at the ends of the range.
        (span.start == .min || instant >= span.start + margin) && instant < span.end - margin
    }

    private func bounded(_ instant: Int64, _ limit: Int64) -> Int64? {
        instant <= limit ? instant : nil
    }
}

// MARK: - Any hour

extension CalendarOccurrences {
    private func nextInHour(after start: Int64, through limit: Int64) -> Int64? {
        var from = start + 1
        while from <= limit {
            let span = zone.span(at: from)
            let wait = GregorianCalendar.remainder(pattern.secondOfPeriod - from - span.offset, by: pattern.period)
            if from + wait < span.end { return bounded(from + wait, limit) }
            from = span.end
        }
        return nil
    }

    private func previousInHour(through end: Int64, downTo floor: Int64) -> Int64? {
        var through = end
        while through >= floor {
            let span = zone.span(at: through)
            let passed = GregorianCalendar.remainder(through + span.offset - pattern.secondOfPeriod, by: pattern.period)
            let found = through - passed
            if found >= span.start { return found >= floor ? found : nil }
            through = span.start - 1
        }
        return nil
    }
}
