import Foundation
package import NotificationModel
package import NotificationState

/// Stores the committed entries of one partition that are not in use: a cache of the changelog that can be discarded at
/// any time. One lane uses it, on its thread.
///
/// Writes are asynchronous: `write` accepts committed changes and returns soon; reads see them at once. Once a store is
/// found damaged, it throws ``EntryStoreError/damaged(_:)``: the lane discards it and reads the changelog again. A
/// store that temporarily cannot write keeps its changes, retries, and reports the reason in `trouble`.
package protocol EntryStore: AnyObject {
    /// The changelog position of the contents; nil when the store is empty.
    var position: StorePosition? { get }
    /// The number of entries, of pending and of lasting ones, and of open requests. Unwritten changes may not be counted yet.
    var counts: StoreCounts { get }
    /// Changes accepted and not written yet, for backpressure; 0 where nothing has to be written.
    var unwritten: Int { get }
    /// Why nothing can be written to disk at present; nil when writing works.
    var trouble: String? { get }
    /// The approximate size of the entries kept in memory.
    var memoryBytes: Int { get }

    /// The entry of a key.
    func entry(of key: [UInt8]) throws -> StoredEntry?

    /// Entries after the cursor whose keys begin with `application/recipient/`, at most `limit`, in an order that the
    /// store defines; the cursor moves past the last one. Fewer than `limit` entries are the last page. Keys with equal
    /// hashes are returned together and may exceed the limit. An entry that exists from the first page to the last is
    /// on exactly one page, whatever changes; an entry added or removed meanwhile is on one page or on none.
    func entries(withPrefix prefix: [UInt8], after cursor: inout RecipientCursor, limit: Int) throws -> [StoredEntry]

    /// The pending entries after the cursor that are due at or before `through`, earliest first, at most `limit`; the
    /// cursor moves past the last one. Keys with equal hashes and due times are returned together and may exceed the
    /// limit.
    func due(after cursor: inout DueCursor, through: Timestamp, limit: Int) throws -> [StoredEntry]

    /// Entries with nothing pending, least recently touched first, at most `limit`: they may be forgotten.
    func idle(limit: Int) throws -> [IdleEntry]

    /// Accepts committed changes, in order: the last one of a key counts.
    ///
    /// - Parameter position: the position of the store with these changes.
    func write(_ changes: [StoreChange], position: StorePosition) throws

    /// Starts to write all accepted changes, even a small batch; does not wait.
    func beginFlush()

    /// Writes all accepted changes; blocking.
    ///
    /// - Throws: ``EntryStoreError/unwritten(_:)`` when they temporarily cannot be written; nothing is lost.
    func flush() throws

    /// Discards all contents and the position: they belong to another changelog, or are damaged.
    func discard() throws

    /// Does a small part of its background work; called often.
    func tend(at now: ContinuousClock.Instant)

    /// Closes the store; writes accepted changes when `flushing`. Later calls do nothing.
    ///
    /// - Parameter deadline: until when it waits for the disk; nil for a time of the store. What is not on disk by then goes on being
    ///   written while the process runs.
    func close(flushing: Bool, by deadline: ContinuousClock.Instant?)
}

extension EntryStore {
    /// All entries whose keys begin with `application/recipient/`, in any order.
    package func entries(withPrefix prefix: [UInt8]) throws -> [StoredEntry] {
        var cursor = RecipientCursor()
        return try entries(withPrefix: prefix, after: &cursor, limit: .max)
    }

    package var trouble: String? { nil }
    package var memoryBytes: Int { 0 }
    package func tend(at now: ContinuousClock.Instant) {}
    package func beginFlush() {}
    package func close(flushing: Bool) { close(flushing: flushing, by: nil) }
}

/// Why a store cannot be used.
package enum EntryStoreError: Error, Hashable, CustomStringConvertible {
    /// The contents differ from what was written, or cannot be read: discard the store.
    case damaged(String)
    /// The directory or a file in it cannot be used: the settings or the permissions have to change.
    case unusable(String)
    /// The disk cannot hold the file: it is full, read-only or failing, and may recover.
    case unavailable(String)
    /// Another process has it open, or this process has not finished closing it.
    case inUse(String)
    /// Accepted changes temporarily cannot be written.
    case unwritten(String)

    /// Whether the settings or the permissions have to change.
    var isOfConfiguration: Bool {
        if case .unusable = self { true } else { false }
    }

    /// Maps a system error: the operator has to fix permissions, and a path that is not a directory or a file. All
    /// other errors are the state of the disk or of the machine.
    static func failed(_ what: String, errno code: Int32) -> Self {
        let reason = "store.directory: \(what) (\(String(cString: strerror(code))))"
        switch code {
        case EACCES, EPERM, ENOENT, EEXIST, ENOTDIR, EISDIR, ENAMETOOLONG, ELOOP, EINVAL:
            return .unusable("\(reason); set a directory that this user can create and write")
        default:
            return .unavailable(reason)
        }
    }

    package var description: String {
        switch self {
        case .damaged(let what): "the store is damaged: \(what)"
        case .unusable(let what), .unavailable(let what), .inUse(let what): what
        case .unwritten(let what): "the store cannot be written: \(what)"
        }
    }
}

/// The changelog position of a store: it contains every record before it.
package struct StorePosition: Hashable, Sendable {
    /// The id of the changelog: created with its first marker, and copied to all later markers.
    package var lineage: String
    /// The next offset of `state` to read.
    package var offset: Int64
    /// When the marker before that offset was written, by the wall clock. If this is older than the changelog keeps
    /// deletions, the store may miss a deletion.
    package var writtenAt: Timestamp

    package init(lineage: String, offset: Int64, writtenAt: Timestamp) {
        self.lineage = lineage
        self.offset = offset
        self.writtenAt = writtenAt
    }
}

/// The number of entries in a store, and of their open requests.
package struct StoreCounts: Hashable, Sendable {
    package var entries = 0
    package var pending = 0
    /// Those that must not be forgotten although nothing is pending: `StoreChange.isLasting`.
    package var lasting = 0
    package var open = OpenCounts()

    package init(entries: Int = 0, pending: Int = 0, lasting: Int = 0, open: OpenCounts = OpenCounts()) {
        (self.entries, self.pending, self.lasting, self.open) = (entries, pending, lasting, open)
    }

    static func += (counts: inout Self, more: Self) {
        counts.entries += more.entries
        counts.pending += more.pending
        counts.lasting += more.lasting
        counts.open += more.open
    }
}

/// An entry as in the changelog.
package struct StoredEntry: Hashable, Sendable {
    package var key: [UInt8]
    package var value: [UInt8]

    package init(key: [UInt8], value: [UInt8]) {
        (self.key, self.value) = (key, value)
    }
}

/// An entry with nothing pending.
package struct IdleEntry: Hashable, Sendable {
    package var key: [UInt8]
    package var touched: Timestamp

    package init(key: [UInt8], touched: Timestamp) {
        (self.key, self.touched) = (key, touched)
    }
}

/// A committed change of one entry.
package struct StoreChange: Hashable, Sendable {
    package var key: [UInt8]
    /// The value as in the changelog; nil when the entry was removed.
    package var value: [UInt8]?
    /// When the pending notification is due; nil when nothing is pending.
    package var due: Timestamp?
    /// When the entry last changed; used to forget old entries. The latest instant for one that must not be forgotten.
    package var touched: Timestamp
    /// Its open requests; none when nothing is pending.
    package var open: OpenRequests

    /// Whether the entry must not be forgotten although nothing is pending.
    package var isLasting: Bool { value != nil && due == nil && touched == .latest }

    package init(key: [UInt8], value: [UInt8]?, due: Timestamp?, touched: Timestamp, open: OpenRequests = .none) {
        (self.key, self.value, self.due, self.touched, self.open) = (key, value, due, touched, open)
    }
}

/// A position in the entries of a recipient; each store defines the order.
package struct RecipientCursor: Hashable, Sendable {
    /// The last position passed; the smallest value at the start.
    package var place = Int64.min

    package init() {}
}

/// A position in the order of due times; each store defines the order of equal due times.
package struct DueCursor: Hashable, Sendable {
    /// All entries due before this instant were passed.
    package var due: Timestamp
    /// The last position passed among the entries due at that instant; the smallest value at the start.
    package var tiebreak: Int64

    /// The position before all entries due at `start` or later.
    package init(before start: Timestamp) {
        (due, tiebreak) = (start, .min)
    }

    package init(due: Timestamp, tiebreak: Int64) {
        (self.due, self.tiebreak) = (due, tiebreak)
    }
}
