import NotificationModel

/// A row as read by the statements of a store: `key, value, due, touched, checksum, hash, open`.
enum StoredRow {
    static let columns = "key, value, due, touched, checksum, hash, open"

    /// The checksum of all columns.
    static func checksum(
        _ hash: Int64,
        value: UnsafeRawBufferPointer,
        due: Int64?,
        touched: Int64,
        open: Int64
    ) -> Int64 {
        let seed =
            UInt64(bitPattern: hash) &+ UInt64(bitPattern: due ?? .min) &* StableHash.secrets.0
            &+ UInt64(bitPattern: touched) &* StableHash.secrets.2 &+ UInt64(bitPattern: open)
        return Int64(Int32(truncatingIfNeeded: StableHash.hash(value, seed: seed)))
    }

    /// The entry of a row.
    ///
    /// - Throws: ``EntryStoreError/damaged(_:)`` when it differs from what was written.
    static func entry(_ row: borrowing PreparedStatement) throws -> StoredEntry {
        let key = row.bytes(0)
        let hash = KeyHash(of: key).key
        let sum = row.withBytes(1) {
            checksum(hash, value: $0, due: row.optionalInteger(2), touched: row.integer(3), open: row.integer(6))
        }
        guard sum == row.integer(4), hash == row.integer(5) else { throw damage }
        return StoredEntry(key: key, value: row.bytes(1))
    }

    static var damage: EntryStoreError { .damaged("a row differs from what was written") }
}
