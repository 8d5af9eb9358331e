/// The components of a calendar trigger: their names, ranges and positions, in one table.
enum CalendarField: FieldName, CaseIterable {
    case era, year, quarter, month, weekOfYear, weekOfMonth, yearForWeekOfYear, weekday, weekdayOrdinal
    case day, dayOfYear, hour, minute, second

    /// The values that can match.
    var range: ClosedRange<Int64> {
        switch self {
        case .era: 0...1
        case .year, .yearForWeekOfYear: 1...9999
        case .quarter: 1...4
        case .month: 1...12
        case .weekOfYear: 1...53
        case .weekOfMonth: 1...5
        case .weekday: 1...7
        case .weekdayOrdinal: 1...5
        case .day: 1...31
        case .dayOfYear: 1...366
        case .hour: 0...23
        case .minute, .second: 0...59
        }
    }

    /// Where a component is.
    enum Place {
        case one(WritableKeyPath<CalendarComponents, Int?>)
        /// It may have several values.
        case several(WritableKeyPath<CalendarComponents, CalendarValues?>)
    }

    var place: Place {
        switch self {
        case .era: .one(\.era)
        case .year: .one(\.year)
        case .quarter: .one(\.quarter)
        case .month: .several(\.month)
        case .weekOfYear: .one(\.weekOfYear)
        case .weekOfMonth: .one(\.weekOfMonth)
        case .yearForWeekOfYear: .one(\.yearForWeekOfYear)
        case .weekday: .several(\.weekday)
        case .weekdayOrdinal: .one(\.weekdayOrdinal)
        case .day: .several(\.day)
        case .dayOfYear: .one(\.dayOfYear)
        case .hour: .several(\.hour)
        case .minute: .one(\.minute)
        case .second: .one(\.second)
        }
    }

    /// The name in JSON.
    var name: String { rawValue.text }
}

private enum RegionField: FieldName {
    case latitude, longitude, radius
}

extension JSONScanner {
    mutating func calendarComponents(_ origin: JSONOrigin) throws(ModelError) -> CalendarComponents {
        var components = CalendarComponents()
        try object(of: CalendarField.self, from: origin) { scanner, field throws(ModelError) in
            switch field.place {
            case .one(let place): components[keyPath: place] = Int(try scanner.integer(in: field.range))
            case .several(let place): components[keyPath: place] = try scanner.calendarValues(in: field.range)
            }
        }
        guard components != CalendarComponents() else { throw value("must have at least one component") }
        return components
    }

    /// A value, or an array of values, each once.
    private mutating func calendarValues(in range: ClosedRange<Int64>) throws(ModelError) -> CalendarValues {
        guard peek() == 0x5B else { return CalendarValues(Int(try integer(in: range))) }
        var values = CalendarValues([])
        try array { scanner, _ throws(ModelError) in
            let value = Int(try scanner.integer(in: range))
            guard !values.contains(value) else { throw scanner.value("appears twice") }
            values.insert(value)
        }
        guard values != CalendarValues([]) else { throw value("must have at least one value") }
        return values
    }

    mutating func timeZone(_ origin: JSONOrigin) throws(ModelError) -> String {
        let name = materialise(try string(bytes: 1...64))
        guard origin != .state else { return name }
        do throws(TimeZoneError) {
            guard try TimeZoneDatabase.system.get().contains(name) else { throw .unknown(zone: name) }
        } catch {
            throw ModelError(error.modelError.reason, field: "", error.description)
        }
        return name
    }

    mutating func region(_ origin: JSONOrigin) throws(ModelError) -> CircularRegion {
        var region = CircularRegion(latitude: 0, longitude: 0, radius: 0)
        let seen = try object(of: RegionField.self, from: origin) { scanner, field throws(ModelError) in
            switch field {
            case .latitude: region.latitude = try scanner.decimal(in: -90...90)
            case .longitude: region.longitude = try scanner.decimal(in: -180...180)
            case .radius: region.radius = try scanner.decimal(in: 0...ModelLimits.regionRadius)
            }
        }
        try seen.require(.latitude, .longitude, .radius)
        guard region.radius > 0 else { throw ModelError(.invalid, field: "radius", "must be more than 0 metres") }
        return region
    }
}
