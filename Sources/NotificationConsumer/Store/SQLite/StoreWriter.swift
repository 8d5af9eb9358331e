import GRDB
import NotificationModel
import NotificationState

/// Writes each batch with the position and the counts in one transaction. Used on the writer's thread.
struct StoreWriter {
    private let connection: DatabaseQueue
    private let find: PreparedStatement
    private let insert: PreparedStatement
    private let update: PreparedStatement
    private let delete: PreparedStatement
    private let mark: PreparedStatement

    init(_ connection: DatabaseQueue) throws {
        self.connection = connection
        func prepare(_ sql: String) throws -> PreparedStatement {
            try connection.unsafeRead { try PreparedStatement($0, sql) }
        }
        find = try prepare("SELECT id, due, key, touched, open FROM entry WHERE recipient = ? AND hash = ?")
        insert = try prepare(
            "INSERT INTO entry(key, value, recipient, hash, due, touched, open, checksum) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        )
        // Update in place: a replaced row would move and leave a gap.
        update = try prepare(
            "UPDATE entry SET key = ?, value = ?, due = ?, touched = ?, open = ?, checksum = ? WHERE id = ?"
        )
        delete = try prepare("DELETE FROM entry WHERE id = ?")
        mark = try prepare("UPDATE meta SET next = ?, written = ?, entries = ?, pending = ?")
    }

    /// Writes a batch atomically.
    ///
    /// - Returns: the counts including the batch.
    func write(_ batch: ChangeBatch, _ counts: StoreCounts, lineage: inout String?) throws -> StoreCounts {
        // Entries that are adjacent in the key index are then adjacent in the batch.
        let order = batch.items.indices.map { (hash: batch.items[$0].hash, index: $0) }.sorted { $0.hash < $1.hash }
        var after = counts
        try connection.inDatabase { database in
            try database.inTransaction(.immediate) {
                for (_, index) in order { try write(batch.items[index], &after) }
                if let position = batch.position {
                    if position.lineage != lineage {
                        try database.execute(sql: "UPDATE meta SET lineage = ?", arguments: [position.lineage])
                    }
                    try mark.run(
                        position.offset,
                        position.writtenAt.rawValue,
                        Int64(after.entries),
                        Int64(after.pending)
                    )
                }
                return .commit
            }
        }
        lineage = batch.position?.lineage ?? lineage
        return after
    }

    private func write(_ item: ChangeBatch.Item, _ counts: inout StoreCounts) throws {
        let (change, hash) = (item.change, item.hash)
        var row: (id: Int64, isPending: Bool, isLasting: Bool, open: OpenRequests)?
        if !item.isNew {
            try find.query(hash.recipient, hash.key) { found in
                guard found.withBytes(2, { $0.elementsEqual(change.key) }) else { return true }
                let isPending = !found.isNull(1)
                let isLasting = !isPending && found.integer(3) == Timestamp.latest.rawValue
                let open = UInt8(exactly: found.integer(4)).flatMap(OpenRequests.init) ?? .none
                row = (found.integer(0), isPending, isLasting, open)
                return false
            }
        }
        if let row {
            counts.entries -= 1
            counts.pending -= row.isPending ? 1 : 0
            counts.lasting -= row.isLasting ? 1 : 0
            counts.open.add(row.open, -1)
        }
        guard let value = change.value else {
            if let row { try delete.run(row.id) }
            return
        }
        let (due, touched, open) = (change.due?.rawValue, change.touched.rawValue, Int64(change.open.rawValue))
        let sum = value.withUnsafeBytes {
            StoredRow.checksum(hash.key, value: $0, due: due, touched: touched, open: open)
        }
        if let row {
            try update.run(change.key, value, due, touched, open, sum, row.id)
        } else {
            try insert.run(change.key, value, hash.recipient, hash.key, due, touched, open, sum)
        }
        counts.entries += 1
        counts.pending += due == nil ? 0 : 1
        counts.lasting += change.isLasting ? 1 : 0
        counts.open.add(change.open)
    }

    /// The keys on disk.
    func keys(expecting count: Int) throws -> BloomFilter {
        try connection.unsafeRead { try StoreFile.keys($0, expecting: count).filter }
    }

    /// Releases SQLite's cache: the kernel caches the file too.
    func releaseMemory() { connection.releaseMemory() }

    /// Records on disk that the file is open and syncs it: after a power loss, no new page is found in a file recorded
    /// as closed.
    func noteOpen(bootID: String?) throws {
        try connection.inDatabase { database in
            // Makes the checkpoint wait for the disk; nothing else waits.
            try database.execute(sql: "PRAGMA synchronous = NORMAL")
            defer { try? database.execute(sql: "PRAGMA synchronous = OFF") }
            try database.execute(sql: "UPDATE meta SET closed = 0, boot = ?", arguments: [bootID])
            // Copy it to the file: contents of the log are lost when the log restarts.
            guard try Int.fetchOne(database, sql: "PRAGMA wal_checkpoint(FULL)") == 0 else {
                throw DatabaseError(resultCode: .SQLITE_BUSY, message: "a reader blocked the checkpoint for too long")
            }
        }
    }

    /// Copies everything to the file, syncs it, and records that it is closed.
    func noteClosed() throws {
        try connection.inDatabase { database in
            try database.execute(sql: "PRAGMA synchronous = FULL")
            // Checkpoint before recording: if the machine stops in between, the file is not recorded as closed.
            guard try Int.fetchOne(database, sql: "PRAGMA wal_checkpoint(TRUNCATE)") == 0 else { return }
            try database.execute(sql: "UPDATE meta SET closed = 1")
        }
    }
}
