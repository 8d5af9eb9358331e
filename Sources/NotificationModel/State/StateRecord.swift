/// What a record of the topic `state` is, by its key.
public enum StateRecord: Sendable {
    case marker(StateMarker)
    case entry(StateEntry.Head)
    /// Whatever was there under its key is gone.
    case tombstone

    /// Reads the heads alone. A tombstone is one whatever its key, so that nothing stands in the way of what removes a record.
    ///
    /// Throws `unsupported-form` for what a newer version wrote, and other reasons for what none of ours wrote.
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
