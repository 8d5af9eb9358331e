import NotificationModel

/// The store of a partition in a file, which works from memory while the disk cannot be used.
///
/// ## When the disk fails
/// When a file cannot be opened or created, because the disk is full or fails, the entries are kept in memory. When a
/// file temporarily cannot be written, it keeps its changes itself, as `WriteBehind` does, until `flush` needs them
/// written: then its contents move to memory.
///
/// ## Return to the disk
/// Another thread tries to create the file again, after one second, two seconds and so on, at most a minute. Then each
/// `tend` copies some entries, and changes go to both stores. The file is marked as not filled to the end until
/// everything is on disk; then it replaces the memory store.
final class DiskEntryStore: EntryStore {
    private enum Place {
        case file(SQLiteEntryStore)
        case memory(MemoryEntryStore)
        case returning(MemoryEntryStore, SQLiteEntryStore)
    }

    private static let firstRetry = Duration.seconds(1)
    private static let lastRetry = Duration.seconds(60)
    /// Entries copied at a time.
    private static let piece = 1000
    /// The unwritten changes at which copying pauses, and at which the file is given up.
    private static let copiedAhead = 20_000
    private static let hopeless = 200_000
    /// The position of a file that is not filled to the end: `Restore` does not use such a file.
    private static let unfilled = StorePosition(lineage: "", offset: 0, writtenAt: Timestamp(rawValue: 0))

    private let disk: StoreDisk
    private let partition: Int32
    private var place: Place
    /// Where copying continues.
    private var copied = 0
    private var making: StoreDisk.Making?
    private var retryAt: ContinuousClock.Instant?
    private var retryAfter = DiskEntryStore.firstRetry
    /// Why the file is not in use.
    private var reason: String?

    /// Opens or creates the file; blocking.
    ///
    /// - Throws: ``EntryStoreError`` for a configuration error, or a file that another process uses.
    init(_ disk: StoreDisk, _ partition: Int32) throws {
        (self.disk, self.partition) = (disk, partition)
        do {
            place = .file(try disk.open(partition))
        } catch EntryStoreError.unavailable(let what) {
            place = .memory(MemoryEntryStore())
            reason = what
            disk.note(partition, trouble: what)
        }
    }

    /// The file in use, or being filled.
    var file: SQLiteEntryStore? {
        switch place {
        case .file(let file), .returning(_, let file): file
        case .memory: nil
        }
    }

    /// The store in use.
    private var store: any EntryStore {
        switch place {
        case .file(let file): file
        case .memory(let memory), .returning(let memory, _): memory
        }
    }

    var position: StorePosition? { store.position }
    var counts: StoreCounts { store.counts }
    var unwritten: Int { store.unwritten }
    var memoryBytes: Int { store.memoryBytes }
    var trouble: String? { reason ?? store.trouble }

    // MARK: - Reading

    func entry(of key: [UInt8]) throws -> StoredEntry? { try store.entry(of: key) }

    // Both stores order keys by hash.
    func entries(withPrefix prefix: [UInt8], after cursor: inout RecipientCursor, limit: Int) throws -> [StoredEntry] {
        try store.entries(withPrefix: prefix, after: &cursor, limit: limit)
    }

    func due(after cursor: inout DueCursor, through: Timestamp, limit: Int) throws -> [StoredEntry] {
        try store.due(after: &cursor, through: through, limit: limit)
    }

    func idle(limit: Int) throws -> [IdleEntry] { try store.idle(limit: limit) }

    // MARK: - Writing

    func write(_ changes: [StoreChange], position: StorePosition) throws {
        try store.write(changes, position: position)
        guard case .returning(let memory, let file) = place else { return }
        do {
            try file.write(changes, position: Self.unfilled)
        } catch {
            giveUp(file, memory, because: "\(error)")
        }
    }

    func beginFlush() { store.beginFlush() }

    func flush() throws {
        guard case .file(let file) = place else { return }
        do {
            try file.flush()
        } catch EntryStoreError.unwritten(let what) {
            let memory = MemoryEntryStore()
            try file.forEach { memory.write([$0], position: Self.unfilled) }
            if let position = file.position { memory.write([], position: position) }
            giveUp(file, memory, because: what)
        }
    }

    func discard() throws {
        switch place {
        case .memory(let memory): memory.discard()
        case .returning(let memory, let file):
            memory.discard()
            giveUp(file, memory, because: "it was discarded while it was being filled")
        case .file(let file):
            do {
                try file.discard()
            } catch {
                giveUp(file, MemoryEntryStore(), because: "\(error)")
            }
        }
    }

    func close(flushing: Bool, by deadline: ContinuousClock.Instant?) {
        making?.cancel()
        making = nil
        switch place {
        case .memory: break
        case .file(let file): file.close(flushing: flushing, by: deadline)
        case .returning(_, let file): file.close(flushing: false, by: deadline)
        }
        disk.note(partition, trouble: nil)
        // From here on it is empty and receives nothing.
        let nothing = MemoryEntryStore()
        nothing.close(flushing: false)
        place = .memory(nothing)
    }

    // MARK: - Return to the disk

    /// Continues from memory; the file is deleted to free space.
    private func giveUp(_ file: SQLiteEntryStore, _ memory: MemoryEntryStore, because what: String) {
        disk.remove(file)
        place = .memory(memory)
        retryLater(because: what)
    }

    private func retryLater(because what: String) {
        (reason, retryAt, copied) = (what, nil, 0)
        disk.note(partition, trouble: what)
    }

    func tend(at now: ContinuousClock.Instant) {
        switch place {
        case .file(let file): disk.note(partition, trouble: file.trouble)
        case .memory(let memory): makeFile(for: memory, at: now)
        case .returning(let memory, let file): copy(memory, to: file)
        }
    }

    private func makeFile(for memory: MemoryEntryStore, at now: ContinuousClock.Instant) {
        if let making {
            guard let result = making.take() else { return }
            self.making = nil
            switch result {
            case .success(let file): place = .returning(memory, file)
            case .failure(let error): retryLater(because: "\(error)")
            }
        } else if let retryAt {
            if retryAt <= now { making = disk.make(partition) }
        } else {
            retryAt = now + retryAfter
            retryAfter = min(retryAfter * 2, Self.lastRetry)
        }
    }

    private func copy(_ memory: MemoryEntryStore, to file: SQLiteEntryStore) {
        let unwritten = file.unwritten
        if let trouble = file.trouble { return giveUp(file, memory, because: trouble) }
        guard unwritten <= Self.hopeless else {
            return giveUp(file, memory, because: "the disk is behind by \(unwritten) changes")
        }
        guard unwritten <= Self.copiedAhead else { return }
        do {
            let changes = memory.changes(from: &copied, limit: Self.piece)
            if !changes.isEmpty { return try file.write(changes, position: Self.unfilled) }
            guard unwritten == 0 else { return file.beginFlush() }
            if let position = memory.position { try file.write([], position: position) }
            place = .file(file)
            (reason, retryAt, retryAfter, copied) = (nil, nil, Self.firstRetry, 0)
            disk.note(partition, trouble: nil)
        } catch {
            giveUp(file, memory, because: "\(error)")
        }
    }
}
