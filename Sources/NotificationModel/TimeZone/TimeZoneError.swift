/// Why a time zone or the database of time zones cannot be used.
public enum TimeZoneError: Error, Hashable, Sendable, CustomStringConvertible {
    /// No zone of the database has this name.
    case unknown(zone: String)
    /// The zone's file cannot be read.
    case unreadable(zone: String, detail: String)
    /// The zone's file is not valid TZif (RFC 9636).
    case damaged(zone: String, detail: String)
    /// The directory has no usable database.
    case noDatabase(directory: String, detail: String)

    /// What is wrong, with the name that it concerns.
    public var description: String {
        switch self {
        case .unknown(let zone): "\"\(zone)\" is not a time zone of the IANA database"
        case .unreadable(let zone, let detail): "the time zone file of \(zone) cannot be read: \(detail)"
        case .damaged(let zone, let detail): "the time zone file of \(zone) is damaged: \(detail)"
        case .noDatabase(let directory, let detail): "no time zone database in \(directory): \(detail)"
        }
    }

    /// As an error of a request: its fault for an unknown name, ours otherwise.
    public var modelError: ModelError {
        switch self {
        case .unknown: ModelError(.invalid, field: "timeZone", description)
        case .unreadable, .damaged, .noDatabase: ModelError(.internalError, field: "timeZone", description)
        }
    }
}
