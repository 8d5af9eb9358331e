/// The occurrences of a trigger: instants that follow from the trigger, the request record's timestamp and, for a calendar
/// trigger, the rules of its time zone alone, so that they do not drift whatever happens to the process.
///
/// A trigger without times has no schedule.
public enum Schedule: Hashable, Sendable {
    /// A time after the request, once or again and again.
    case interval(IntervalSchedule)
    /// Times on the wall clock of a zone. Indirect, so that a schedule stays as small as an interval.
    indirect case calendar(CalendarSchedule)

    /// The schedule of a trigger; nil for one without times: it is due at once, or when a device crosses a boundary.
    ///
    /// Throws for a calendar trigger `invalid` or `gap` at `trigger.dateComponents` when it has no occurrence, and at
    /// `trigger.timeZone` for an unknown zone.
    ///
    /// - Parameters:
    ///   - trigger: of the request.
    ///   - anchor: the timestamp of the request's record.
    ///   - zones: the time zones of calendar triggers.
    ///   - local: the zone of the recipient, for a trigger that names none; nil for the standard zone.
    public init?(
        _ trigger: NotificationTrigger,
        anchor: Timestamp,
        zones: TimeZones,
        local: TimeZoneRules? = nil
    ) throws(ModelError) {
        switch trigger {
        case .push, .location: return nil
        case .timeInterval(let trigger): self = .interval(IntervalSchedule(trigger, anchor: anchor))
        case .calendar(var trigger):
            do throws(ModelError) {
                let floats = trigger.timeZone == nil
                let zone = if floats, let local { local } else { try zones.rules(for: trigger) }
                // What is stored keeps its zone when the setting changes.
                trigger.timeZone = zone.name
                var schedule = try CalendarSchedule(trigger, anchor: anchor, zone: zone)
                schedule.floats = floats
                self = .calendar(schedule)
            } catch {
                throw error.inside("trigger")
            }
        }
    }

    /// Checks that a calendar trigger is not past. Costs no search. Throws `invalid` or `gap` at
    /// `trigger.dateComponents`.
    ///
    /// - Parameters:
    ///   - trigger: the trigger.
    ///   - now: occurrences up to it are past.
    ///   - zones: of the trigger's zone; the zone of a trigger that names none is not known here.
    public static func check(
        _ trigger: NotificationTrigger,
        at now: Timestamp,
        zones: TimeZoneDatabase
    ) throws(ModelError) {
        guard case .calendar(let trigger) = trigger else { return }
        do throws(ModelError) {
            var zone: TimeZoneRules?
            if let name = trigger.timeZone {
                do throws(TimeZoneError) { zone = try zones.rules(named: name) } catch { throw error.modelError }
            }
            try CalendarSchedule.check(trigger, after: now, zone: zone)
        } catch {
            throw error.inside("trigger")
        }
    }

    // MARK: - What each kind of schedule answers

    /// The first occurrence.
    public var first: Timestamp {
        switch self {
        case .interval(let schedule): schedule.first
        case .calendar(let schedule): schedule.first
        }
    }

    /// Whether there is another occurrence after each.
    public var repeats: Bool {
        switch self {
        case .interval(let schedule): schedule.repeats
        case .calendar(let schedule): schedule.repeats
        }
    }

    /// What to do with missed occurrences; nil for the default policy.
    public var misfire: MisfirePolicy? {
        switch self {
        case .interval(let schedule): schedule.misfire
        case .calendar(let schedule): schedule.misfire
        }
    }

    /// The milliseconds over which occurrences are spread; 0 for none.
    public var jitter: Int64 {
        switch self {
        case .interval(let schedule): schedule.jitter
        case .calendar(let schedule): schedule.jitter
        }
    }

    /// The occurrence after one; nil when it was the last.
    public func next(after occurrence: Timestamp) -> Timestamp? {
        switch self {
        case .interval(let schedule): schedule.next(after: occurrence)
        case .calendar(let schedule): schedule.next(after: occurrence)
        }
    }

    /// The last occurrence at or before an instant, and not before `first`, which is one.
    public func previous(through instant: Timestamp, from first: Timestamp) -> Timestamp {
        switch self {
        case .interval(let schedule): schedule.previous(through: instant, from: first)
        case .calendar(let schedule): schedule.previous(through: instant, from: first)
        }
    }

    /// How many occurrences lie from `first` to `last`, which are occurrences, both included.
    public func count(from first: Timestamp, through last: Timestamp) -> Int {
        switch self {
        case .interval(let schedule): schedule.count(from: first, through: last)
        case .calendar(let schedule): schedule.count(from: first, through: last)
        }
    }

    // MARK: - What follows from it

    /// The last occurrence that is due at an instant, not before `first`, which is.
    public func lastDue(at instant: Timestamp, from first: Timestamp, of request: RequestID) -> Timestamp {
        let last = previous(through: instant, from: first)
        // Its delay ends before the next occurrence: only the last one can still be to come.
        guard last > first, due(for: last, of: request) > instant else { return last }
        return previous(through: last.adding(milliseconds: -1), from: first)
    }

    /// When an occurrence is sent: its nominal instant, and within `jitter` a delay that is the same at each computation.
    public func due(for occurrence: Timestamp, of request: RequestID) -> Timestamp {
        guard jitter > 0 else { return occurrence }
        var window = jitter
        if let next = next(after: occurrence) { window = min(window, next.rawValue - occurrence.rawValue - 1) }
        guard window > 0 else { return occurrence }
        var bytes: [UInt8] = []
        request.write(to: &bytes)
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325  // FNV-1a
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        hash = (hash ^ UInt64(bitPattern: occurrence.rawValue)) &* 0x9e37_79b9_7f4a_7c15
        return occurrence.adding(milliseconds: Int64((hash >> 16) % (UInt64(window) + 1)))
    }
}
