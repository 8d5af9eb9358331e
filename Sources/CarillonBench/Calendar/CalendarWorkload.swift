import NotificationModel

/// Calendar triggers of every kind of rhythm, and the instants from which their occurrences are computed.
///
/// All subjects define a time that the clock shows exactly once in the same way, so only such times are used: the clocks
/// change between occurrences, never at one. Everything that is measured can then be compared.
struct CalendarWorkload: Sendable {
    /// A trigger, which every subject can express.
    struct Entry: Sendable {
        var name: String
        var zone: String
        var components: CalendarComponents

        init(_ name: String, _ zone: String, _ components: CalendarComponents) {
            (self.name, self.zone, self.components) = (name, zone, components)
        }
    }

    /// A trigger with its schedule.
    struct Planned: Sendable {
        var entry: Entry
        var schedule: Schedule
        /// From each of them so many occurrences are computed, one after the other.
        var starts: [Timestamp]
        /// The occurrences from each start, by the schedule.
        var occurrences: [[Timestamp]]
    }

    static let entries = [
        Entry("hourly, Berlin", "Europe/Berlin", .init(minute: 30, second: 0)),
        Entry("hourly, Kolkata", "Asia/Kolkata", .init(minute: 5, second: 0)),
        Entry("daily, New York", "America/New_York", .init(hour: 9, minute: 0, second: 0)),
        Entry("daily, Lord Howe", "Australia/Lord_Howe", .init(hour: 18, minute: 30, second: 0)),
        Entry("daily, Kathmandu", "Asia/Kathmandu", .init(hour: 7, minute: 15, second: 0)),
        Entry("Mondays, London", "Europe/London", .init(weekday: 2, hour: 8, minute: 0, second: 0)),
        Entry("Saturdays, Santiago", "America/Santiago", .init(weekday: 7, hour: 12, minute: 0, second: 0)),
        Entry("1st of the month, Los Angeles", "America/Los_Angeles", .init(day: 1, hour: 6, minute: 0, second: 0)),
        Entry("31st of the month, Paris", "Europe/Paris", .init(day: 31, hour: 20, minute: 0, second: 0)),
        Entry(
            "second Tuesdays, Auckland",
            "Pacific/Auckland",
            .init(weekday: 3, weekdayOrdinal: 2, hour: 10, minute: 0, second: 0)
        ),
        Entry("24 December, St. John's", "America/St_Johns", .init(month: 12, day: 24, hour: 18, minute: 0, second: 0)),
        Entry("29 February, Madrid", "Europe/Madrid", .init(month: 2, day: 29, hour: 12, minute: 0, second: 0)),
    ]

    /// 2026-01-01 to 2041-01-01: some of the years are after the last change of the clocks that files list.
    private static let years = (first: Int64(1_767_225_600), seconds: UInt64(15 * 365 * 86_400))

    let triggers: [Planned]
    let length: Int

    /// - Parameters:
    ///   - starts: of each trigger.
    ///   - length: how many occurrences are computed from each start.
    /// - Throws: ``BenchmarkError`` when the system has no time zone database.
    init(_ entries: [Entry] = Self.entries, starts: Int, length: Int) throws {
        self.length = length
        let zones: TimeZones
        do {
            zones = try TimeZones.system()
        } catch {
            throw BenchmarkError("\(error)")
        }
        triggers = try entries.map { try Self.plan($0, zones, starts: starts, length: length) }
    }

    /// The number of occurrences of one pass over all triggers.
    var count: Int { triggers.reduce(0) { $0 + $1.starts.count * length } }

    /// The sum of their seconds since 1970: a subject that leaves work out has another one.
    var sum: Int64 {
        triggers.reduce(0) { sum, trigger in
            trigger.occurrences.joined().reduce(sum) { $0 &+ $1.rawValue / 1_000 }
        }
    }

    private static func plan(_ entry: Entry, _ zones: TimeZones, starts: Int, length: Int) throws -> Planned {
        let trigger = CalendarTrigger(dateComponents: entry.components, timeZone: entry.zone, repeats: true)
        // Before every start: a schedule knows its own first occurrence without a search.
        let anchor = Timestamp(rawValue: (years.first - 366 * 86_400) * 1_000)
        let found: Schedule?
        do {
            found = try Schedule(.calendar(trigger), anchor: anchor, zones: zones)
        } catch {
            throw BenchmarkError("\(entry.name): \(error.detail)")
        }
        guard let found, case .calendar(let schedule) = found else {
            throw BenchmarkError("\(entry.name) has no calendar schedule")
        }
        var planned = Planned(entry: entry, schedule: found, starts: [], occurrences: [])
        // Few of them meet a change of the clocks.
        for number in 0..<starts * 4 where planned.starts.count < starts {
            let second = years.first + Int64(Pattern.mixed(number) % years.seconds)
            let start = Timestamp(rawValue: second * 1_000)
            let occurrences = try occurrences(of: length, after: start, of: entry.name) { found.next(after: $0) }
            guard isPlain(schedule, start, occurrences) else { continue }
            planned.starts.append(start)
            planned.occurrences.append(occurrences)
        }
        guard planned.starts.count == starts else {
            throw BenchmarkError("\(entry.name): too many starts meet a change of the clocks")
        }
        return planned
    }

    /// Whether no occurrence is in a gap or an overlap and, without an hour, no change of the clocks is among them.
    private static func isPlain(_ schedule: CalendarSchedule, _ start: Timestamp, _ occurrences: [Timestamp]) -> Bool {
        let isHourly = schedule.trigger.dateComponents.hour == nil
        let offset = schedule.zone.offset(at: start)
        return occurrences.allSatisfy { occurrence in
            guard case .exact = schedule.explain(occurrence)?.resolution else { return false }
            // The first hour after a change can be the second one of an overlap.
            return !isHourly
                || [-7_200, 0, 7_200].allSatisfy {
                    schedule.zone.offset(at: occurrence.adding(milliseconds: $0 * 1_000)) == offset
                }
        }
    }

    static func occurrences(
        of length: Int,
        after start: Timestamp,
        of name: String,
        next: (Timestamp) -> Timestamp?
    ) throws -> [Timestamp] {
        var occurrences: [Timestamp] = []
        occurrences.reserveCapacity(length)
        while occurrences.count < length {
            guard let occurrence = next(occurrences.last ?? start) else {
                throw BenchmarkError("\(name): no occurrence after \(occurrences.last ?? start)")
            }
            occurrences.append(occurrence)
        }
        return occurrences
    }
}
