import GRDB
package import NotificationModel

/// The entries of one partition in a file, written asynchronously by the thread of `StoreWriters`.
///
/// ## Path of a change
/// `write` adds the change to the batch in memory, where reads find it, and returns. When the batch is large or old
/// enough, the thread sorts it in the order of the key index, and writes it in one transaction with the position and
/// the counts.
///
/// ## After a crash
/// The file is not synced while in use. After a crash of the process at most the unwritten changes are lost, but a
/// crash of the machine may damage the file. Therefore the file records the boot in which it was open, and is discarded
/// in a later boot. A clean close syncs the file; so does recording that it is open again, before the first batch.
///
/// ## Cost of reads
/// A Bloom filter of all keys answers for absent keys. Every other read is one statement on the lane's own connection.
/// The kernel caches the file; SQLite caches little of it.
package final class SQLiteEntryStore: EntryStore {
    /// Sizes and waiting times; all are positive.
    package struct Limits: Sendable {
        /// The size of a batch, in changes.
        package var batchSize = 10_000
        /// How long a change waits for a batch to fill.
        package var batchAge: Duration = .seconds(3)
        /// How long to wait before a failed write is retried.
        package var retryInterval: Duration = .seconds(1)
        /// A file whose position is older is discarded: the changelog keeps deletions only this long.
        package var retention: Duration = .seconds(23 * 3600)
        /// How long closing waits for the last batch and the disk.
        package var closing: Duration = .seconds(10)
        /// The writer thread, shared by all stores with these limits.
        package var writers = StoreWriters()
        /// The size of SQLite's page cache for writing, in bytes; reading uses a quarter of it.
        package var cacheBytes = 2 << 20
        /// Removed keys that may stay in the filter, in addition to as many as there are entries.
        package var forgottenKeys = 100_000
        /// The maximum number of pages of a file opened now; nil for SQLite's limit. Tests use it to simulate a full
        /// disk.
        package var maximumPages: @Sendable () -> Int? = { nil }

        package init() {}
    }

    private let file: StoreFile
    private let limits: Limits
    private let bootID: String?
    /// All of these are nil once the store is closed.
    private var lock: StoreLock?
    private var reader: StoreReader?
    private(set) var behind: WriteBehind?

    package private(set) var position: StorePosition?

    package var counts: StoreCounts { behind?.counts ?? StoreCounts() }
    package var unwritten: Int { behind?.unwritten ?? 0 }
    package var trouble: String? { behind?.trouble }

    /// - Throws: ``EntryStoreError``, or an error of the database.
    init(_ file: StoreFile, _ lock: StoreLock, _ found: Opened?, limits: Limits, bootID: String?) throws {
        self.file = file
        self.limits = limits
        self.bootID = bootID
        self.lock = lock
        try start(found ?? file.make(limits: limits, bootID: bootID), lock)
    }

    private func start(_ opened: Opened, _ lock: StoreLock) throws {
        reader = try StoreReader(file.connect(isReader: true, cacheBytes: limits.cacheBytes / 4))
        position = opened.contents.position
        let behind = WriteBehind(
            opened.connection,
            file,
            opened.contents,
            opened.filter,
            limits: limits,
            bootID: bootID
        )
        behind.start(lineage: position?.lineage, holding: lock)
        self.behind = behind
    }

    // MARK: - Reading

    package func entry(of key: [UInt8]) throws -> StoredEntry? {
        try read(otherwise: nil) { reader, behind in
            let hash = KeyHash(of: key)
            switch try behind.find(key, hash) {
            case .entry(let entry): return entry
            case .perhaps: return try reader.entry(of: key, hash)
            }
        }
    }

    package func entries(
        withPrefix prefix: [UInt8],
        after cursor: inout RecipientCursor,
        limit: Int
    ) throws -> [StoredEntry] {
        guard limit > 0 else { return [] }
        let (start, recipient) = (cursor.place, KeyHash.recipient(ofPrefix: prefix))
        var last: Int64?
        var found: [StoredEntry] = []
        /// Returns false when the limit is reached. Entries with equal hashes are kept together, since the cursor
        /// cannot stop between them.
        func take(_ hash: Int64, _ entry: StoredEntry?) -> Bool {
            guard found.count < limit || hash == last else { return false }
            guard let entry, entry.key.starts(with: prefix) else { return true }
            found.append(entry)
            last = hash
            return true
        }
        try read(otherwise: ()) { reader, behind in
            // Read this before the disk: a change written in between is found twice instead of being missed.
            let overlay = try behind.overlay()
            var changed = overlay.changes(ofRecipient: recipient)
                .map { (hash: KeyHash(of: $0.key).key, change: $0) }
                .filter { $0.hash > start }
                .sorted { $0.hash < $1.hash }[...]
            try reader.entries(ofRecipient: recipient, after: start) { hash, row in
                while let first = changed.first, first.hash < hash {
                    guard take(first.hash, first.change.entry) else { return false }
                    changed.removeFirst()
                }
                let entry = try StoredRow.entry(row)
                let isOver = overlay.change(of: entry.key, KeyHash(of: entry.key)) != nil
                return take(hash, isOver ? nil : entry)
            }
            while let first = changed.popFirst(), take(first.hash, first.change.entry) {}
        }
        if let last { cursor.place = last }
        return found
    }

    package func due(after cursor: inout DueCursor, through: Timestamp, limit: Int) throws -> [StoredEntry] {
        guard limit > 0 else { return [] }
        let start = cursor
        var last: DueCursor?
        var found: [StoredEntry] = []
        /// Returns false when the limit is reached. Entries at the same position are kept together, since the cursor
        /// cannot stop between them.
        func take(_ place: DueCursor, _ entry: () throws -> StoredEntry?) rethrows -> Bool {
            guard found.count < limit || place == last else { return false }
            guard let entry = try entry() else { return true }
            found.append(entry)
            last = place
            return true
        }
        try read(otherwise: ()) { reader, behind in
            let overlay = try behind.overlay()
            var changed = overlay.due(after: start, through: through)[...]
            try reader.due(after: start) { place, row in
                guard place.due <= through else { return false }
                while let first = changed.first, first.place < place {
                    guard take(first.place, { first.entry }) else { return false }
                    changed.removeFirst()
                }
                return try take(place) {
                    let entry = try StoredRow.entry(row)
                    return overlay.change(of: entry.key, KeyHash(of: entry.key)) == nil ? entry : nil
                }
            }
            while let first = changed.popFirst(), take(first.place, { first.entry }) {}
        }
        if let last { cursor = last }
        return found
    }

    package func idle(limit: Int) throws -> [IdleEntry] {
        guard limit > 0 else { return [] }
        return try read(otherwise: []) { reader, behind in
            let overlay = try behind.overlay()
            var found: [IdleEntry] = []
            try reader.idle { entry in
                if overlay.change(of: entry.key, KeyHash(of: entry.key)) == nil { found.append(entry) }
                return found.count < limit
            }
            found += overlay.idle().prefix(limit)
            return Array(found.sorted { $0.touched < $1.touched }.prefix(limit))
        }
    }

    private func read<Result>(
        otherwise nothing: Result,
        _ body: (borrowing StoreReader, WriteBehind) throws -> Result
    ) throws -> Result {
        guard let reader, let behind else { return nothing }
        do {
            return try body(reader, behind)
        } catch let EntryStoreError.damaged(what) {
            behind.noteDamage(what)
            throw EntryStoreError.damaged(what)
        }
    }

    /// All entries, in any order.
    func forEach(_ body: (StoreChange) -> Void) throws {
        try read(otherwise: ()) { reader, behind in
            let overlay = try behind.overlay()
            try reader.forEach { change in
                if overlay.change(of: change.key, KeyHash(of: change.key)) == nil { body(change) }
            }
            for change in overlay.present { body(change) }
        }
    }

    // MARK: - Writing

    package func write(_ changes: [StoreChange], position: StorePosition) throws {
        guard let behind else { return }
        try behind.take(changes, position: position)
        self.position = position
    }

    package func beginFlush() { behind?.beginFlush() }

    package func flush() throws { try behind?.flush() }

    package func discard() throws {
        guard let lock else { return }
        end(.abandoning)
        try file.translating {
            try file.remove()
            try start(file.make(limits: limits, bootID: bootID), lock)
        }
    }

    /// Closes the store and deletes the file.
    func remove() {
        guard let lock else { return }
        end(.abandoning)
        // Delete before the lock is released: the next file has the same name.
        try? file.remove()
        lock.release()
        self.lock = nil
    }

    package func close(flushing: Bool, by deadline: ContinuousClock.Instant?) {
        // If the writer thread is still busy, it releases the lock itself later.
        if end(flushing ? .flushing : .dropping, by: deadline) { lock?.release() }
        lock = nil
    }

    /// Closes the reader first: the last connection performs the final checkpoint.
    @discardableResult
    private func end(_ ending: WriteBehind.Ending, by deadline: ContinuousClock.Instant? = nil) -> Bool {
        reader = nil
        position = nil
        defer { behind = nil }
        return behind?.end(ending, by: deadline) ?? true
    }

    deinit {
        // A store that was not closed loses no more than in a crash.
        behind?.end(.abandoning)
    }
}
