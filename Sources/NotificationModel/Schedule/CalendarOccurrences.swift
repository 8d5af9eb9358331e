/// The instants at which a zone's clock shows what a pattern asks for. All instants are whole seconds since 1970.
///
/// With the hour set, the instants of each matching wall-clock time follow from the zone and the policies for gaps and
/// overlaps. Without it, occurrences are all instants whose minute and second match.
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
        guard !pattern.isOfAnyHour else { return nextInHour(after: start, through: limit) }

        let span = zone.span(at: start)
        // Near a change of the offset earlier times may resolve to later instants.
        var wall = start + span.offset + (Self.isCalm(start, in: span) ? 1 : -Self.margin)
        var best: Int64?
        while let time = pattern.next(fromTime: wall, through: limit + Self.margin) {
            // No later time resolves to an earlier instant.
            if let best, time - TimeZoneRules.reach > best { break }
            let instant = time - span.offset
            if Self.isCalm(instant, in: span) {
                if instant > start { return bounded(min(instant, best ?? instant), limit) }
            } else {
                for instant in instants(of: time) where instant > start && instant < best ?? .max { best = instant }
            }
            wall = time + 1
        }
        return best.flatMap { bounded($0, limit) }
    }

    /// The last occurrence up to an instant, and not before `floor`.
    func previous(through end: Int64, downTo floor: Int64) -> Int64? {
        let end = min(end, Self.bounds.upperBound)
        let floor = max(floor, Self.bounds.lowerBound)
        guard end >= floor else { return nil }
        guard !pattern.isOfAnyHour else { return previousInHour(through: end, downTo: floor) }

        let span = zone.span(at: end)
        var wall = end + span.offset + (Self.isCalm(end, in: span) ? 0 : Self.margin)
        var best: Int64?
        while let time = pattern.previous(fromTime: wall, through: floor - Self.margin) {
            if let best, time + TimeZoneRules.reach < best { break }
            let instant = time - span.offset
            if Self.isCalm(instant, in: span) {
                if instant <= end {
                    best = max(instant, best ?? instant)
                    break
                }
            } else {
                for instant in instants(of: time) where instant <= end && instant > best ?? .min { best = instant }
            }
            wall = time - 1
        }
        return best.flatMap { $0 >= floor ? $0 : nil }
    }

    /// How many occurrences there are after `start` and up to `end`.
    ///
    /// Between two changes of the offset they are counted by the calendar, so the cost grows with the changes and with the
    /// months or weeks.
    func count(after start: Int64, through end: Int64) -> Int {
        var count = 0
        var last = start
        while last < end, let next = next(after: last), next <= end {
            count += 1
            last = next
            let span = zone.span(at: next)
            if pattern.isOfAnyHour {
                let steps = (min(end, span.end - 1) - next) / pattern.period
                count += Int(steps)
                last = next + steps * pattern.period
            } else if Self.isCalm(next, in: span) {
                last = min(end, span.end - Self.margin - 1)
                count += pattern.count(from: next + span.offset + 1, through: last + span.offset)
            }
        }
        return count
    }

    // MARK: - Another clock

    /// The wall-clock time of an occurrence that was planned with an offset, perhaps by other rules of the zone. Nil
    /// without an hour, and when no time of the pattern is near.
    func time(of instant: Int64, plannedWith offset: Int64) -> Int64? {
        guard !pattern.isOfAnyHour else { return nil }
        let local = instant + offset
        if pattern.next(fromTime: local, through: local) != nil { return local }
        // The time is in a gap, which moved it by its length: by a day at most.
        let (first, last) = (local - GregorianCalendar.secondsOfDay, local + GregorianCalendar.secondsOfDay)
        if zone.span(at: instant).offset == offset {
            var wall = first
            while let time = pattern.next(fromTime: wall, through: last) {
                if instants(of: time).contains(instant) { return time }
                wall = time + 1
            }
        }
        // By other rules: the nearest that such a gap may have moved.
        return gap == .previous
            ? pattern.next(fromTime: local, through: last) : pattern.previous(fromTime: local, through: first)
    }

    /// The occurrence of a wall-clock time, or of the next one that has any; nil when there is none within the horizon.
    ///
    /// - Parameter offset: of the two instants of an overlap, the one with this offset is preferred.
    func occurrence(atTime time: Int64, preferring offset: Int64) -> Int64? {
        var wall = time
        while let time = pattern.next(fromTime: wall, through: time + Self.horizon) {
            let found = Array(instants(of: time))
            if let same = found.last(where: { zone.span(at: $0).offset == offset }) ?? found.first { return same }
            wall = time + 1
        }
        return nil
    }

    /// The occurrence in the place of one that was planned when the zone had other rules, and that offset; see
    /// ``CalendarSchedule/replanned(_:)``. Nil when there is none within the horizon.
    func replanned(_ instant: Int64, offset: Int64) -> Int64? {
        // Without an hour the clock shows the time again within the hour, whatever its offset.
        guard !pattern.isOfAnyHour else { return next(after: instant - 1) }
        let time = time(of: instant, plannedWith: offset)
        return occurrence(atTime: time ?? instant + offset, preferring: offset)
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
            let wait = GregorianCalendar.remainder(pattern.second - from - span.offset, by: pattern.period)
            if from + wait < span.end { return bounded(from + wait, limit) }
            from = span.end
        }
        return nil
    }

    private func previousInHour(through end: Int64, downTo floor: Int64) -> Int64? {
        var through = end
        while through >= floor {
            let span = zone.span(at: through)
            let passed = GregorianCalendar.remainder(through + span.offset - pattern.second, by: pattern.period)
            let found = through - passed
            if found >= span.start { return found >= floor ? found : nil }
            through = span.start - 1
        }
        return nil
    }
}
