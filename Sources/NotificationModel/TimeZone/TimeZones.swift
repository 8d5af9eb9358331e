/// The zones that calendar triggers are planned with.
public struct TimeZones: Sendable {
    /// Where the rules come from.
    public let database: TimeZoneDatabase
    /// The zone of triggers that name none.
    public let standard: TimeZoneRules

    /// Zones of a database.
    ///
    /// Throws ``TimeZoneError`` for a standard zone that it does not have, or whose file cannot be used.
    ///
    /// - Parameters:
    ///   - database: where the rules come from.
    ///   - standard: the zone of triggers that name none.
    public init(_ database: TimeZoneDatabase, standard: String = "UTC") throws(TimeZoneError) {
        self.database = database
        self.standard = try database.rules(named: standard)
    }

    /// Zones of the system's database. Throws as ``init(_:standard:)``, and for a system without one.
    public static func system(standard: String = "UTC") throws(TimeZoneError) -> TimeZones {
        try TimeZones(TimeZoneDatabase.system.get(), standard: standard)
    }

    /// The rules for a trigger. Throws `invalid` for an unknown zone, `internal` for a damaged file.
    func rules(for trigger: CalendarTrigger) throws(ModelError) -> TimeZoneRules {
        guard let name = trigger.timeZone else { return standard }
        do throws(TimeZoneError) {
            return try database.rules(named: name)
        } catch {
            throw error.modelError
        }
    }
}
