package import NotificationModel

/// The kind of a record of the topic `state`, from its key.
package enum StateRecord: Sendable {
    case marker(StateMarker)
    case entry(StateEntry.Head)
    /// Removes the value stored under its key.
    case tombstone

    /// Reads a marker or the head of an entry. A tombstone may have any key, so that every record can be removed.
    ///
    /// Throws `unsupported-form` for a record of a newer version, and other reasons for records that no version of
    /// Carillon wrote.
    package init(key: [UInt8], value: [UInt8]?) throws(ModelError) {
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
