package import NotificationModel

/// Where the committed entries of one partition are kept beyond those in use: a cache of the changelog that can be thrown
/// away at any time. One lane uses it, on its thread.
///
/// Writing is behind: `write` takes committed changes and returns soon; reads see them at once. A store that fails to read
/// or to write throws and is of no more use: the lane discards it and reads the changelog again.
package protocol EntryStore: AnyObject {
    /// What the contents stand for; nil when the store holds nothing.
    var position: StorePosition? { get }
    /// How many entries are kept, and how many of them are pending.
    var counts: StoreCounts { get }
    /// Changes taken and not written yet, for backpressure; 0 where there is nothing to wait for.
    var unwritten: Int { get }

    /// Why changes are not written, while that is so; nothing is lost meanwhile.
    var trouble: String? { get }

    /// The entry of a key.
    func entry(of key: [UInt8]) throws -> StoredEntry?

    /// All entries whose keys begin with `application/recipient/`, in no order that means anything.
    func entries(withPrefix prefix: [UInt8]) throws -> [StoredEntry]

    /// The pending entries after the cursor and due at `through` or before, the earliest first, at most `limit`; the cursor
    /// moves behind the last one.
    func due(after cursor: inout DueCursor, through: Timestamp, limit: Int) throws -> [StoredEntry]

    /// Entries with nothing pending, the longest untouched first, at most `limit`: what may be forgotten.
    func idle(limit: Int) throws -> [IdleEntry]

    /// Takes committed changes: at most one a key, in no order that means anything.
    ///
    /// - Parameter position: what the store stands for with them.
    func write(_ changes: [StoreChange], position: StorePosition) throws

    /// Writes everything that was taken; blocking.
    func flush() throws

    /// Empties the store: what it holds is no copy of the changelog.
    func discard() throws

    /// Ends its use; what was taken is written when `flushing`. Later calls do nothing.
    func close(flushing: Bool)
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
