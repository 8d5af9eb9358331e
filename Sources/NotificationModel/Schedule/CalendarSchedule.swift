/// The occurrences of a calendar trigger in one time zone. They follow from the trigger, the request record's timestamp and
/// the zone's rules alone.
///
/// - The search starts from the record's timestamp, exclusive, or from `notBefore`, inclusive, whichever is later.
/// - Occurrences are whole seconds; two wall-clock times that fall on one instant are one occurrence.
/// - A one-shot has one occurrence: the first.
public struct CalendarSchedule: Sendable {
    /// What was asked for.
    public let trigger: CalendarTrigger
    /// The timestamp of the request's record.
    public let anchor: Timestamp
    /// The first occurrence.
    public private(set) var first: Timestamp
    /// Whether the trigger named no zone: it is on the clock of its recipient, and its zone is the one that it is planned in.
    public package(set) var floats = false
    let occurrences: CalendarOccurrences
    /// The occurrence that was read from the changelog, with the offset that it was planned with.
    private var planned: (occurrence: Timestamp, offset: Int)?

    /// The rules that the schedule follows.
    public var zone: TimeZoneRules { occurrences.zone }

    /// Whether there may be another occurrence after each; one with a year ends all the same.
    public var repeats: Bool { trigger.repeats }

    /// What to do with missed occurrences; nil for the default policy.
    public var misfire: MisfirePolicy? { trigger.misfire }

    /// Milliseconds over which occurrences are spread; 0 for none.
    public var jitter: Int64 { NotificationTrigger.milliseconds(trigger.jitter ?? 0) }

    /// The occurrences of a trigger. The cost is bounded: some microseconds for ordinary components, less than a
    /// millisecond for the worst.
    ///
    /// Throws `invalid` at the component that is wrong (``check(_:)``), or at `dateComponents` when there is no occurrence
    /// within 60 years, a past date included; `gap` when the only one is in a gap that the policy skips.
    ///
    /// - Parameters:
    ///   - trigger: the trigger.
    ///   - anchor: the timestamp of the request's record.
    ///   - zone: the rules of the trigger's `timeZone`, or of the recipient's where it has none.
    public init(_ trigger: CalendarTrigger, anchor: Timestamp, zone: TimeZoneRules) throws(ModelError) {
        occurrences = try CalendarOccurrences(trigger, zone: zone)
        let start = Self.start(anchor: anchor, notBefore: trigger.notBefore)
        guard let first = occurrences.next(after: start) else {
            throw Self.never(occurrences, after: start)
        }
        self.first = Timestamp(seconds: first)
        self.trigger = trigger
        self.anchor = anchor
    }

    /// The same schedule, read again with the occurrence that it waits for. The zone's rules may be other ones by now; where
    /// they leave no occurrence, that one stays the first. A one-shot has no other occurrence than that one.
    ///
    /// Throws `invalid` as ``check(_:)``.
    ///
    /// - Parameters:
    ///   - trigger: the trigger.
    ///   - anchor: the timestamp of the request's record.
    ///   - zone: the rules of its zone, now.
    ///   - occurrence: the one that it waits for.
    ///   - offset: seconds east of UTC with which the occurrence was planned, for ``replanned(_:)``; nil for that of the zone.
    public init(
        restoring trigger: CalendarTrigger,
        anchor: Timestamp,
        zone: TimeZoneRules,
        occurrence: Timestamp,
        offset: Int? = nil
    ) throws(ModelError) {
        occurrences = try CalendarOccurrences(trigger, zone: zone)
        let start = Self.start(anchor: anchor, notBefore: trigger.notBefore)
        let found = trigger.repeats ? occurrences.next(after: start) : nil
        first = found.map(Timestamp.init(seconds:)) ?? occurrence
        self.trigger = trigger
        self.anchor = anchor
        planned = offset.map { (occurrence, $0) }
    }

    /// Checks what does not depend on the time or the zone: ranges, holes between components, impossible dates and the
    /// policy for missing days. Throws `invalid` at the field (`dateComponents.day`).
    public static func check(_ trigger: CalendarTrigger) throws(ModelError) {
        _ = try CalendarPattern(trigger.dateComponents, missingDay: trigger.missingDay)
    }

    /// Checks that not every occurrence is past. Costs no search: only a trigger with a year can be past. Throws as
    /// ``init(_:anchor:zone:)`` does.
    ///
    /// - Parameters:
    ///   - trigger: the trigger.
    ///   - instant: occurrences up to it are past.
    ///   - zone: nil for an unknown zone: then only what is past in every zone is refused.
    public static func check(
        _ trigger: CalendarTrigger,
        after instant: Timestamp,
        zone: TimeZoneRules?
    ) throws(ModelError) {
        let start = start(anchor: instant, notBefore: trigger.notBefore)
        guard let zone else {
            let pattern = try CalendarPattern(trigger.dateComponents, missingDay: trigger.missingDay)
            guard let wall = pattern.lastTime, wall + TimeZoneRules.reach <= start else { return }
            let time = LocalDateTime(seconds: wall)
            throw ModelError(.invalid, field: "dateComponents", "are past: their last date and time is \(time)")
        }
        let occurrences = try CalendarOccurrences(trigger, zone: zone)
        guard let wall = occurrences.pattern.lastTime else { return }
        // The last one may be in a gap that is skipped, and an earlier one not be past.
        guard
            occurrences.instants(of: wall).contains(where: { $0 > start }) || occurrences.next(after: start) != nil
        else { throw never(occurrences, after: start) }
    }

    /// The last second that is before all occurrences: an occurrence at `notBefore` counts, one at the anchor does not.
    private static func start(anchor: Timestamp, notBefore: Timestamp?) -> Int64 {
        guard let notBefore, notBefore > anchor else { return anchor.seconds }
        return notBefore.adding(milliseconds: -1).seconds
    }

    private static func never(_ occurrences: CalendarOccurrences, after start: Int64) -> ModelError {
        let start = min(start, CalendarOccurrences.bounds.upperBound)
        let zone = occurrences.zone
        if let wall = occurrences.pattern.lastTime {
            switch zone.instants(of: wall) {
            case .gap(let before, _) where occurrences.gap == .skip && wall - before > start:
                let time = LocalDateTime(seconds: wall)
                return ModelError(
                    .gap,
                    field: "dateComponents",
                    "\(time) does not exist in \(zone.name), and gap is skip"
                )
            default:
                guard occurrences.instants(of: wall).contains(where: { $0 > start }) else {
                    return ModelError(
                        .invalid,
                        field: "dateComponents",
                        "are past: their last date and time in \(zone.name) is \(LocalDateTime(seconds: wall))"
                    )
                }
            }
        }
        return ModelError(
            .invalid,
            field: "dateComponents",
            "have no occurrence in \(zone.name) within 60 years after \(Timestamp(seconds: start))"
        )
    }

    /// The first occurrence after an instant; nil when there is none within 60 years.
    public func next(after instant: Timestamp) -> Timestamp? {
        var instant = instant
        // What was planned with another offset has the place of its time on the wall, which may be later by now.
        if let planned, planned.occurrence == instant, planned.offset != zone.offset(at: instant) {
            instant = max(instant, replanned(instant).occurrence)
        }
        if instant < first { return first }
        guard repeats else { return nil }
        return occurrences.next(after: instant.seconds).map(Timestamp.init(seconds:))
    }

    /// The last occurrence at or before an instant, and not before `first`, which is one.
    public func previous(through instant: Timestamp, from first: Timestamp) -> Timestamp {
        guard repeats, instant > first else { return first }
        let found = occurrences.previous(through: instant.seconds, downTo: first.seconds).map(Timestamp.init(seconds:))
        return max(first, found ?? first)
    }

    /// How many occurrences lie from `first` to `last`, which are occurrences, both included. At least 1.
    public func count(from first: Timestamp, through last: Timestamp) -> Int {
        guard repeats, last > first else { return 1 }
        return 1 + occurrences.count(after: first.seconds, through: last.seconds)
    }
}

// MARK: - Other rules of the zone

extension CalendarSchedule {
    /// The offset from UTC with which an occurrence is planned: seconds to the east.
    public func offset(of occurrence: Timestamp) -> Int {
        if let planned, planned.occurrence == occurrence { return planned.offset }
        return zone.offset(at: occurrence)
    }

    /// The schedule with the occurrence that takes the place of one that was planned with other rules of the zone: the one
    /// of the same date and time on the wall. So what has fired does not fire again because its clock was put forward, and
    /// nothing is left out because it was put back. Where no such occurrence exists any more, it is the next one; the
    /// planned one stays when there is none at all, and while the zone is unknown.
    public func replanned(_ occurrence: Timestamp) -> (schedule: CalendarSchedule, occurrence: Timestamp) {
        var schedule = self
        schedule.planned = nil
        guard let planned, planned.occurrence == occurrence, !zone.isSubstitute else { return (self, occurrence) }
        let found = occurrences.replanned(occurrence.seconds, offset: Int64(planned.offset))
        guard let found = found.map(Timestamp.init(seconds:)) else { return (self, occurrence) }
        if !repeats { schedule.first = found }
        return (schedule, found)
    }
}

// MARK: - Another zone

extension CalendarSchedule {
    /// The schedule on the clock of another zone, with the occurrence that takes the place of the one that it waits for. For a
    /// repeat that is the next one after `now` and after the last that fired. For a one-shot it is the one of the same date and
    /// time on the wall, which may be past.
    ///
    /// - Parameters:
    ///   - zone: the other zone.
    ///   - occurrence: the one that it waits for.
    ///   - now: occurrences of a repeat up to it are past.
    /// - Returns: nil when there is no such occurrence.
    public func moved(
        to zone: TimeZoneRules,
        from occurrence: Timestamp,
        at now: Timestamp
    ) -> (schedule: CalendarSchedule, occurrence: Timestamp)? {
        var trigger = trigger
        trigger.timeZone = zone.name
        let there = CalendarOccurrences(
            pattern: occurrences.pattern,
            zone: zone,
            gap: occurrences.gap,
            overlap: occurrences.overlap
        )
        let start = Self.start(anchor: anchor, notBefore: trigger.notBefore)
        var found: Int64?
        if repeats {
            var last = now.seconds
            if occurrence > first {
                last = max(last, previous(through: occurrence.adding(milliseconds: -1), from: first).seconds)
            }
            found = there.next(after: max(start, last))
        } else {
            let offset = Int64(offset(of: occurrence))
            // Its time on this clock, whose rules say what a gap did.
            let time = occurrences.time(of: occurrence.seconds, plannedWith: offset)
            found =
                time.map { there.occurrence(atTime: $0, preferring: offset) }
                ?? there.replanned(occurrence.seconds, offset: offset)
            if let date = found, let notBefore = trigger.notBefore, Timestamp(seconds: date) < notBefore {
                found = there.next(after: start)
            }
        }
        guard let found = found.map(Timestamp.init(seconds:)),
            var moved = try? CalendarSchedule(restoring: trigger, anchor: anchor, zone: zone, occurrence: found)
        else { return nil }
        moved.floats = floats
        return (moved, found)
    }
}

extension CalendarSchedule: Hashable {
    /// Whether both have the same occurrences.
    public static func == (left: CalendarSchedule, right: CalendarSchedule) -> Bool {
        left.trigger == right.trigger && left.anchor == right.anchor && left.first == right.first
            && left.zone == right.zone && left.floats == right.floats
    }

    /// Hashes what is compared.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(trigger)
        hasher.combine(anchor)
        hasher.combine(first)
        hasher.combine(zone)
        hasher.combine(floats)
    }
}
