import HeapModule

/// What the store knows of its files without looking: sizes, and until when each is needed. A plain value; the store
/// does the I/O.
///
/// Other instances change a shared directory too, so the index may be wrong: a file may have vanished, a new one may be
/// missing here, and one may be needed for longer. The store looks at the file before it removes one, and renews the
/// index from the directory.
struct MediaIndex: Sendable {
    struct Entry: Equatable, Sendable {
        /// The size; 2^40 at most, so that sums stay far from overflow.
        let bytes: Int64
        /// In milliseconds since 1970.
        let neededUntil: Int64

        init(bytes: Int64, neededUntil: Int64) {
            self.bytes = bytes.clamped(to: 1 << 40)
            self.neededUntil = neededUntil
        }
    }

    /// What to do to get room.
    enum Room: Equatable {
        case reserved
        /// The entry left the index: remove its file, or add it again, and ask once more.
        case evict(MediaName, Entry)
        /// Every file is needed.
        case full
    }

    private struct Candidate: Comparable {
        let neededUntil: Int64
        let name: MediaName

        static func < (one: Self, other: Self) -> Bool { one.neededUntil < other.neededUntil }
    }

    private let bound: Int64
    private let fileBound: Int
    private var entries: [MediaName: Entry] = [:]
    /// Every entry is in here with the instant it had once or an earlier one; what is outdated is corrected or dropped
    /// when it comes to the top.
    private var candidates = Heap<Candidate>()
    /// The size of all files.
    private(set) var bytes: Int64 = 0
    /// The bytes of downloads in progress.
    private(set) var reserved: Int64 = 0
    private var scannedAt: Int64?
    /// What was added or removed since a scan began; nil when none is in progress.
    private var changedInScan: Set<MediaName>?

    init(bytes: Int64, files: Int) {
        bound = bytes.clamped(to: 1 << 60)
        fileBound = max(1, files)
    }

    var count: Int { entries.count }

    subscript(name: MediaName) -> Entry? { entries[name] }

    /// Adds a file, or replaces what is known of it.
    mutating func add(_ name: MediaName, _ entry: Entry) {
        changedInScan?.insert(name)
        let former = entries.updateValue(entry, forKey: name)
        bytes += entry.bytes - (former?.bytes ?? 0)
        // A later instant needs no second candidate: the former one will be corrected.
        if former.map({ entry.neededUntil < $0.neededUntil }) ?? true {
            candidates.insert(Candidate(neededUntil: entry.neededUntil, name: name))
        }
    }

    mutating func remove(_ name: MediaName) {
        changedInScan?.insert(name)
        if let former = entries.removeValue(forKey: name) { bytes -= former.bytes }
    }

    /// Reserves bytes for a download.
    ///
    /// - Parameters:
    ///   - count: 0 to make the files fit after the bound was lowered.
    ///   - now: In milliseconds since 1970. What is needed until now or earlier may be evicted, the earliest first.
    mutating func reserve(_ count: Int64, at now: Int64) -> Room {
        let files = entries.count + (count > 0 ? 1 : 0)
        if count <= bound - bytes - reserved, files <= fileBound {
            reserved += count
            return .reserved
        }
        while let first = candidates.min, first.neededUntil <= now {
            _ = candidates.popMin()
            guard let entry = entries[first.name] else { continue }
            guard entry.neededUntil <= first.neededUntil else {
                candidates.insert(Candidate(neededUntil: entry.neededUntil, name: first.name))
                continue
            }
            remove(first.name)
            return .evict(first.name, entry)
        }
        return .full
    }

    /// Gives reserved bytes back.
    mutating func release(_ count: Int64) { reserved -= count }

    /// - Parameters:
    ///   - now: In milliseconds since 1970.
    ///   - interval: How old the last scan must be, in milliseconds.
    /// - Returns: Whether the caller has to scan the directory now and to call ``endScan(_:)``.
    mutating func beginScan(at now: Int64, after interval: Int64) -> Bool {
        guard changedInScan == nil else { return false }
        // A clock that was set back must not stop the scans.
        if let scannedAt, (0..<interval).contains(now.clamped(to: .max) - scannedAt) { return false }
        scannedAt = now.clamped(to: .max)
        changedInScan = []
        return true
    }

    /// - Parameter found: The files of the directory; nil when it could not be read.
    mutating func endScan(_ found: [MediaName: Entry]?) {
        let changed = changedInScan ?? []
        changedInScan = nil
        guard var found else { return }
        // The scan may have seen these before they changed.
        for name in changed { found[name] = entries[name] }
        entries = found
        bytes = found.values.reduce(0) { $0 + $1.bytes }
        candidates = Heap(found.map { Candidate(neededUntil: $1.neededUntil, name: $0) })
    }
}
