import GRDB
import NotificationModel
import NotificationState

/// Reads the entries on disk, without unwritten changes. Used on the lane's thread.
struct StoreReader {
    private let connection: DatabaseQueue
    private let byKey: PreparedStatement
    private let byRecipient: PreparedStatement
    private let byDue: PreparedStatement
    private let byTouched: PreparedStatement
    private let all: PreparedStatement

    init(_ connection: DatabaseQueue) throws {
        self.connection = connection
        func select(_ rest: String) throws -> PreparedStatement {
            try connection.unsafeRead { try PreparedStatement($0, "SELECT \(StoredRow.columns) FROM entry \(rest)") }
        }
        byKey = try select("WHERE recipient = ? AND hash = ?")
        byRecipient = try select("INDEXED BY entry_key WHERE recipient = ? AND hash > ? ORDER BY hash")
        byDue = try select(
            "INDEXED BY entry_due WHERE due IS NOT NULL AND (due, hash) > (?, ?) ORDER BY due, hash"
        )
        byTouched = try select("INDEXED BY entry_idle WHERE due IS NULL ORDER BY touched")
        all = try select("")
    }

    func entry(of key: [UInt8], _ hash: KeyHash) throws -> StoredEntry? {
        try read {
            var found: StoredEntry?
            try byKey.query(hash.recipient, hash.key) { row in
                guard row.withBytes(0, { $0.elementsEqual(key) }) else { return true }
                found = try StoredRow.entry(row)
                return false
            }
            return found
        }
    }

    /// Entries of a recipient with larger key hashes, in order, until the closure returns false.
    func entries(
        ofRecipient recipient: Int64,
        after hash: Int64,
        _ body: (Int64, borrowing PreparedStatement) throws -> Bool
    ) throws {
        try read {
            try byRecipient.query(recipient, hash) { row in try body(row.integer(5), row) }
        }
    }

    /// Pending entries after the cursor, ordered by due time, until the closure returns false.
    func due(after cursor: DueCursor, _ body: (DueCursor, borrowing PreparedStatement) throws -> Bool) throws {
        try read {
            try byDue.query(cursor.due.rawValue, cursor.tiebreak) { row in
                try body(DueCursor(due: Timestamp(rawValue: row.integer(2)), tiebreak: row.integer(5)), row)
            }
        }
    }

    /// Entries with nothing pending, least recently touched first, until the closure returns false.
    func idle(_ body: (IdleEntry) throws -> Bool) throws {
        try read {
            try byTouched.query { row in
                // The value is not read: it may be long, and is not needed.
                let key = row.bytes(0)
                guard KeyHash(of: key).key == row.integer(5) else { throw StoredRow.damage }
                return try body(IdleEntry(key: key, touched: Timestamp(rawValue: row.integer(3))))
            }
        }
    }

    /// Every row.
    func forEach(_ body: (StoreChange) -> Void) throws {
        try read {
            try all.query { row in
                let entry = try StoredRow.entry(row)
                body(
                    StoreChange(
                        key: entry.key,
                        value: entry.value,
                        due: row.optionalInteger(2).map(Timestamp.init(rawValue:)),
                        touched: Timestamp(rawValue: row.integer(3)),
                        open: UInt8(exactly: row.integer(6)).flatMap(OpenRequests.init) ?? .none
                    )
                )
                return true
            }
        }
    }

    /// - Throws: ``EntryStoreError/damaged(_:)`` for every error: a cache that cannot be read is useless.
    private func read<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try connection.unsafeRead { _ in try body() }
        } catch let error as DatabaseError {
            throw EntryStoreError.damaged(error.reason)
        }
    }
}

extension DatabaseError {
    /// SQLite's message, without the statement and its values.
    var reason: String { message ?? resultCode.description }

    /// The file differs from what SQLite wrote.
    var isDamage: Bool { resultCode == .SQLITE_CORRUPT || resultCode == .SQLITE_NOTADB }
}
