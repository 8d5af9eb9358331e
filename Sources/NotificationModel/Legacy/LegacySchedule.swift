import Foundation

/// The schedule of a `UILocalNotification`.
///
/// - Without `timeZone` the fire date is an instant. Once: a calendar trigger of its full date in UTC, since an
///   interval would need a clock. Repeating: the unit's components of it in UTC.
/// - With `timeZone` the fire date is what a clock in that zone shows, and it follows the device: the trigger has its
///   components there and no zone of its own.
/// - Repeats start at the fire date (`notBefore`). For one that follows the device, devices far to the east of the
///   given zone may therefore begin one occurrence later.
/// - Fractions of a second are rounded up: never early.
struct LegacySchedule {
    /// Units whose repeats can be mapped.
    enum Unit {
        case year, month, week, day, hour, minute

        /// Reads `repeatInterval`: nil for 0, an empty string or null.
        static func read(_ field: LegacyField) throws(ModelError) -> Unit? {
            if case .null = field.value { return nil }
            if let number = field.value.integerValue {
                switch number {
                case 0: return nil
                case 4: return .year
                case 8: return .month
                case 16: return .day
                case 32: return .hour
                case 64: return .minute
                case 256, 8192: return .week
                case 512: return .day
                default: break
                }
            } else if let name = field.value.stringValue {
                switch name {
                case "": return nil
                case "year": return .year
                case "month": return .month
                case "day", "weekday": return .day
                case "hour": return .hour
                case "minute": return .minute
                case "week", "weekOfYear": return .week
                default: break
                }
            }
            throw ModelError(
                .invalid,
                field: field.path,
                "cannot be mapped: use year, month, week, weekOfYear, day, weekday, hour or minute"
            )
        }
    }

    var fireDate: Timestamp?
    var timeZone: String?
    var unit: Unit?
    var region: LocationTrigger?
    var regionTriggersOnce = true

    /// Only the Gregorian calendar can be mapped.
    static func checkCalendar(_ field: LegacyField) throws(ModelError) {
        switch field.value {
        case .null, .string("gregorian"), .string("iso8601"): return
        default: throw ModelError(.invalid, field: field.path, "cannot be mapped: only gregorian and iso8601 can")
        }
    }

    static func region(_ field: LegacyField) throws(ModelError) -> LocationTrigger {
        var region = CircularRegion(latitude: 0, longitude: 0, radius: 0)
        var missing: Set<String> = ["latitude", "longitude", "radius"]
        // Core Location's own defaults: both edges.
        var trigger = LocationTrigger(region: region, notifyOnEntry: true, notifyOnExit: true)
        for member in try field.members() {
            let inner = LegacyField("region." + member.name, member.value)
            missing.remove(member.name)
            switch member.name {
            case "latitude": region.latitude = try inner.number()
            case "longitude": region.longitude = try inner.number()
            case "radius": region.radius = try inner.number()
            case "identifier": _ = try inner.text()
            case "notifyOnEntry": trigger.notifyOnEntry = try inner.flag()
            case "notifyOnExit": trigger.notifyOnExit = try inner.flag()
            default: throw ModelError(.unknownField, field: inner.path, "is no property of a region")
            }
        }
        if let name = missing.min() { throw ModelError(.invalid, field: "region." + name, "is missing") }
        trigger.region = region
        return trigger
    }

    func trigger() throws(ModelError) -> NotificationTrigger {
        if var region {
            guard fireDate == nil else {
                throw ModelError(.invalid, field: "region", "has no place beside fireDate")
            }
            region.repeats = !regionTriggersOnce
            return .location(region)
        }
        guard let fireDate else {
            guard unit == nil else { throw ModelError(.invalid, field: "repeatInterval", "needs a fireDate") }
            return .push
        }
        let wallClock = try WallClock(fireDate, in: timeZone)
        return .calendar(
            CalendarTrigger(
                dateComponents: wallClock.components(of: unit),
                timeZone: timeZone == nil ? "UTC" : nil,
                repeats: unit != nil,
                notBefore: unit == nil ? nil : fireDate
            )
        )
    }
}

/// What a clock in a zone shows at an instant.
private struct WallClock {
    let year, month, day, hour, minute, second, weekday: Int

    init(_ instant: Timestamp, in zone: String?) throws(ModelError) {
        var seconds = Int64((Double(instant.rawValue) / 1000).rounded(.up))
        if let zone {
            guard let found = TimeZone(identifier: zone) else {
                throw ModelError(.invalid, field: "timeZone", "must be a name of the IANA time zone database")
            }
            seconds += Int64(found.secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds))))
        }
        let days = Int64((Double(seconds) / 86_400).rounded(.down))
        let secondOfDay = Int(seconds - days * 86_400)
        let date = Timestamp.date(ofDay: days)
        guard (1...9999).contains(date.year) else {
            throw ModelError(.invalid, field: "fireDate", "must lie in the years 1 to 9999")
        }
        year = Int(date.year)
        month = Int(date.month)
        day = Int(date.day)
        hour = secondOfDay / 3600
        minute = secondOfDay / 60 % 60
        second = secondOfDay % 60
        // 1970-01-01 was a Thursday, the fifth day when Sunday is the first.
        weekday = Int(((days + 4) % 7 + 7) % 7) + 1
    }

    /// The components that repeat every unit; all of them when nothing repeats.
    func components(of unit: LegacySchedule.Unit?) -> CalendarComponents {
        switch unit {
        case nil:
            CalendarComponents(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
        case .year: CalendarComponents(month: month, day: day, hour: hour, minute: minute, second: second)
        case .month: CalendarComponents(day: day, hour: hour, minute: minute, second: second)
        case .week: CalendarComponents(weekday: weekday, hour: hour, minute: minute, second: second)
        case .day: CalendarComponents(hour: hour, minute: minute, second: second)
        case .hour: CalendarComponents(minute: minute, second: second)
        case .minute: CalendarComponents(second: second)
        }
    }
}
