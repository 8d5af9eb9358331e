import NotificationModel

/// Unreadable records of one partition of `state`, by key; a record that is replaced or removed later is forgotten.
struct UnreadableRecords {
    struct Record: Sendable {
        var offset: Int64
        var error: ModelError
    }

    /// The limits on remembered records.
    private static let maximumCount = 10_000
    private static let maximumBytes = 16 << 20

    private var byKey: [[UInt8]: Record] = [:]
    private var bytes = 0

    var isEmpty: Bool { byKey.isEmpty }
    var isFull: Bool { byKey.count >= Self.maximumCount || bytes >= Self.maximumBytes }
    /// In the order of the log.
    var records: [Record] { byKey.values.sorted { $0.offset < $1.offset } }

    mutating func note(_ key: [UInt8], at offset: Int64, _ error: ModelError) {
        if byKey.updateValue(Record(offset: offset, error: error), forKey: key) == nil { bytes += key.count }
    }

    /// A later record replaced or removed the key.
    mutating func forget(_ key: [UInt8]) {
        if !byKey.isEmpty, byKey.removeValue(forKey: key) != nil { bytes -= key.count }
    }
}
