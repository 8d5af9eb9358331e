import Foundation
package import NotificationModel

/// Where the committed entries of one partition are kept beyond those in use: a cache of the changelog that can be thrown
/// away at any time. One lane uses it, on its thread.
///
/// Writing is behind: `write` takes committed changes and returns soon; reads see them at once. A store that is found damaged
/// throws ``EntryStoreError/damaged(_:)`` from then on: the lane discards it and reads the changelog again. One that cannot
/// write for now keeps what it took, tries again, and says so in `trouble`.
package protocol EntryStore: AnyObject {
    /// What the contents stand for; nil when the store holds nothing.
    var position: StorePosition? { get }
    /// How many entries are kept, and how many of them are pending. What is not written yet may not be counted yet.
    var counts: StoreCounts { get }
    /// Changes taken and not written yet, for backpressure; 0 where there is nothing to wait for.
    var unwritten: Int { get }
    /// Why nothing can be written to disk at present; nil when all is well.
    var trouble: String? { get }
    /// About what the entries take that it keeps in memory.
    var memoryBytes: Int { get }

    /// The entry of a key.
    func entry(of key: [UInt8]) throws -> StoredEntry?

    /// Entries whose keys begin with `application/recipient/`, behind the cursor in an order of the store's own, at most `limit`;
    /// the cursor moves behind the last one. Fewer than `limit` are the last. Where keys have one hash, they come together, and
    /// may be more. An entry that is there from the first page to the last is in exactly one of them, whatever changes; one that
    /// comes or goes meanwhile may be in one or in none.
    func entries(withPrefix prefix: [UInt8], after cursor: inout RecipientCursor, limit: Int) throws -> [StoredEntry]

    /// The pending entries after the cursor and due at `through` or before, the earliest first, at most `limit`; the cursor
    /// moves behind the last one. Where keys due at one instant have one hash, they come together, and may be more.
    func due(after cursor: inout DueCursor, through: Timestamp, limit: Int) throws -> [StoredEntry]

    /// Entries with nothing pending, the longest untouched first, at most `limit`: what may be forgotten.
    func idle(limit: Int) throws -> [IdleEntry]

    /// Takes committed changes: at most one a key, in no order that means anything.
    ///
    /// - Parameter position: what the store stands for with them.
    func write(_ changes: [StoreChange], position: StorePosition) throws

    /// Begins to write everything that was taken, whether or not it is much; does not wait.
    func beginFlush()

    /// Writes everything that was taken; blocking.
    ///
    /// - Throws: ``EntryStoreError/unwritten(_:)`` when it cannot for now; nothing is lost.
    func flush() throws

    /// Forgets everything, the position too: what it holds is of another changelog, or damaged.
    func discard() throws

    /// Goes on, a little at each call, with what it does beside its use; called often.
    func tend(at now: ContinuousClock.Instant)

    /// Ends its use, within a bounded time; what was taken is written when `flushing`. Later calls do nothing.
    func close(flushing: Bool)
}

extension EntryStore {
    /// All entries whose keys begin with `application/recipient/`, in no order that means anything.
    package func entries(withPrefix prefix: [UInt8]) throws -> [StoredEntry] {
        var cursor = RecipientCursor()
        return try entries(withPrefix: prefix, after: &cursor, limit: .max)
    }

    package var trouble: String? { nil }
    package var memoryBytes: Int { 0 }
    package func tend(at now: ContinuousClock.Instant) {}
    package func beginFlush() {}
}

/// Why a store is of no use.
package enum EntryStoreError: Error, Hashable, CustomStringConvertible {
    /// What was read is not what was written, or cannot be read: discard it.
    case damaged(String)
    /// The directory or a file in it cannot be used: nothing but another setting, or other rights, helps.
    case unusable(String)
    /// The disk does not take the file: it is full or read-only, or fails, and another time it may be otherwise.
    case unavailable(String)
    /// Another process has it open, or this one has not finished closing it.
    case inUse(String)
    /// What was taken cannot be written for now.
    case unwritten(String)

    /// Nothing but another setting, or other rights, helps.
    var isOfConfiguration: Bool {
        if case .unusable = self { true } else { false }
    }

    /// What the system answered: rights, and what is no directory or no file, are for the operator to mend; all else is the
    /// state of the disk, or of the machine.
    static func failed(_ what: String, errno code: Int32) -> Self {
        let reason = "store.directory: \(what) (\(String(cString: strerror(code))))"
        switch code {
        case EACCES, EPERM, ENOENT, EEXIST, ENOTDIR, EISDIR, ENAMETOOLONG, ELOOP, EINVAL:
            return .unusable("\(reason); give a directory that this user may make and write")
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

/// The place in the changelog that a store stands for: every record before it is in.
package struct StorePosition: Hashable, Sendable {
    /// Which changelog: made with its first marker, and the same in all that follow.
    package var lineage: String
    /// The offset of `state` to read next.
    package var offset: Int64
    /// By the wall clock, when the marker before that offset was written: older than what the changelog keeps of deletions,
    /// the store may miss one.
    package var writtenAt: Timestamp

    package init(lineage: String, offset: Int64, writtenAt: Timestamp) {
        self.lineage = lineage
        self.offset = offset
        self.writtenAt = writtenAt
    }
}

/// How much a store holds.
package struct StoreCounts: Hashable, Sendable {
    package var entries = 0
    package var pending = 0

    package init(entries: Int = 0, pending: Int = 0) {
        (self.entries, self.pending) = (entries, pending)
    }
}

/// An entry as the changelog has it.
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
    /// As the changelog has it; nil when the entry is gone.
    package var value: [UInt8]?
    /// When what is pending is due; nil when nothing is.
    package var due: Timestamp?
    /// When it was last applied to, for forgetting.
    package var touched: Timestamp

    package init(key: [UInt8], value: [UInt8]?, due: Timestamp?, touched: Timestamp) {
        (self.key, self.value, self.due, self.touched) = (key, value, due, touched)
    }
}

/// A place among the entries of a recipient; a store orders them as it likes.
package struct RecipientCursor: Hashable, Sendable {
    /// What the store has passed; the smallest at the start.
    package var place = Int64.min

    package init() {}
}

/// A place in the order of what is due; a store orders equal instants as it likes.
package struct DueCursor: Hashable, Sendable {
    /// Everything due before it has passed.
    package var due: Timestamp
    /// Among those due at that instant, what the store has passed; the smallest at the start.
    package var tiebreak: Int64

    /// Before everything that is due at `start` or later.
    package init(before start: Timestamp) {
        (due, tiebreak) = (start, .min)
    }

    package init(due: Timestamp, tiebreak: Int64) {
        (self.due, self.tiebreak) = (due, tiebreak)
    }
}
