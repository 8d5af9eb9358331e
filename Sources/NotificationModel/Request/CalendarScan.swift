/// The components of a calendar trigger: their names, ranges and positions, in one table.
enum CalendarField: UInt8, CaseIterable {
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

    static func named(_ name: FieldName) -> CalendarField? {
        switch name {
        case "hour": .hour
        case "minute": .minute
        case "second": .second
        case "day": .day
        case "weekday": .weekday
        case "month": .month
        case "year": .year
        case "era": .era
        case "quarter": .quarter
        case "weekOfYear": .weekOfYear
        case "weekOfMonth": .weekOfMonth
        case "yearForWeekOfYear": .yearForWeekOfYear
        case "weekdayOrdinal": .weekdayOrdinal
        case "dayOfYear": .dayOfYear
        default: nil
        }
    }

    /// The name in JSON.
    var name: String { "\(self)" }
}

private enum RegionField: UInt8 {
    case latitude, longitude, radius
}

extension JSONScanner {
    mutating func calendarComponents(_ origin: ScanOrigin) throws(ModelError) -> CalendarComponents {
        var seen = SeenFields()
        var components = CalendarComponents()
        try object { scanner, name throws(ModelError) in
            guard let field = try scanner.field(name, CalendarField.named) else {
                return try scanner.skipUnknownField(origin)
            }
            try seen.insert(field)
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

    mutating func timeZone(_ origin: ScanOrigin) throws(ModelError) -> String {
        let name = materialise(try string(bytes: 1...64))
        guard origin == .request else { return name }
        do throws(TimeZoneError) {
            guard try TimeZoneDatabase.system.get().contains(name) else { throw .unknown(zone: name) }
        } catch {
            throw ModelError(error.modelError.reason, field: "", error.description)
        }
        return name
    }

    mutating func region(_ origin: ScanOrigin) throws(ModelError) -> CircularRegion {
        var seen = SeenFields()
        var region = CircularRegion(latitude: 0, longitude: 0, radius: 0)
        try object { scanner, name throws(ModelError) in
            let field = try scanner.field(name) { name -> RegionField? in
                switch name {
                case "latitude": .latitude
                case "longitude": .longitude
                case "radius": .radius
                default: nil
                }
            }
            guard let field else {
                return try scanner.skipUnknownField(origin)
            }
            try seen.insert(field)
            switch field {
            case .latitude: region.latitude = try scanner.decimal(in: -90...90)
            case .longitude: region.longitude = try scanner.decimal(in: -180...180)
            case .radius: region.radius = try scanner.decimal(in: 0...ModelLimits.regionRadius)
            }
        }
        let all: [(RegionField, String)] = [(.latitude, "latitude"), (.longitude, "longitude"), (.radius, "radius")]
        for (field, label) in all where !seen.contains(field) { throw missing(label) }
        guard region.radius > 0 else { throw ModelError(.invalid, field: "radius", "must be more than 0 metres") }
        return region
    }
}
