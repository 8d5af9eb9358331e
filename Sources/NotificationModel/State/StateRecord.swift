/// What a record of the topic `state` is, by its key.
public enum StateRecord: Sendable {
    case marker(StateMarker)
    case entry(StateEntry.Head)
    /// The record that removes what was stored under its key.
    case tombstone

    /// Reads a marker or the head of an entry. A tombstone may have any key, so that every record can be removed.
    ///
    /// Throws `unsupported-form` for what a newer version wrote, and other reasons for what no version of Carillon wrote.
    public init(key: [UInt8], value: [UInt8]?) throws(ModelError) {
        guard let value else {
            self = .tombstone
            return
        }
        if key == StateMarker.key {
            self = .marker(try StateMarker(json: value))
        } else {
            _ = try NotificationKey(encoded: key)
            self = .entry(try StateEntry.head(of: value))
        }
    }
}
