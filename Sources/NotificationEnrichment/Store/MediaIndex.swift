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
        /// For whom it was fetched first.
        let owner: MediaOwner

        init(bytes: Int64, neededUntil: Int64, owner: MediaOwner = .nobody) {
            self.bytes = bytes.clamped(to: 1 << 40)
            (self.neededUntil, self.owner) = (neededUntil, owner)
        }
    }

    /// What to do to get room.
    enum Room: Equatable {
        case reserved
        /// The entry left the index: remove its file, or add it again, and ask once more.
        case evict(MediaName, Entry)
        /// Every file is needed.
        case full
        /// The owner has its share, and every file of it is needed.
        case shareFull
    }

    private struct Candidate: Comparable {
        let neededUntil: Int64
        let name: MediaName

        static func < (one: Self, other: Self) -> Bool { one.neededUntil < other.neededUntil }
    }

    /// What an owner has.
    private struct Usage {
        var bytes: Int64 = 0
        var files = 0
        var reserved: Int64 = 0
        /// Every entry is in here with the instant it had once or an earlier one; what is outdated is corrected or dropped
        /// when it comes to the top.
        var candidates = Heap<Candidate>()

        var isEmpty: Bool { bytes == 0 && files == 0 && reserved == 0 }
    }

    private let bound: Int64
    private let fileBound: Int
    private let share: (bytes: Int64, files: Int)
    private var entries: [MediaName: Entry] = [:]
    private var owners: [MediaOwner: Usage] = [:]
    /// The size of all files.
    private(set) var bytes: Int64 = 0
    /// The bytes of downloads in progress.
    private(set) var reserved: Int64 = 0
    private var scannedAt: Int64?
    /// What was added or removed since a scan began; nil when none is in progress.
    private var changedInScan: Set<MediaName>?

    /// - Parameters:
    ///   - bytes: Of all files together.
    ///   - files: Their number.
    ///   - share: The part of both that one owner may have, in percent.
    init(bytes: Int64, files: Int, share: Int = 100) {
        bound = bytes.clamped(to: 1 << 60)
        fileBound = max(1, files)
        self.share = (
            bound / 100 * Int64(share) + bound % 100 * Int64(share) / 100,
            max(1, fileBound / 100 * share + fileBound % 100 * share / 100)
        )
    }

    var count: Int { entries.count }

    subscript(name: MediaName) -> Entry? { entries[name] }

    /// Adds a file, or replaces what is known of it; its owner stays.
    mutating func add(_ name: MediaName, _ entry: Entry) {
        changedInScan?.insert(name)
        let former = entries[name]
        let owner = former.map(\.owner).flatMap { $0 == .nobody ? nil : $0 } ?? entry.owner
        let entry = Entry(bytes: entry.bytes, neededUntil: entry.neededUntil, owner: owner)
        if let former { credit(former) }
        entries[name] = entry
        charge(entry)
        // Not before: what an owner with a single file knows of it would be lost.
        if let former { dropIfEmpty(former.owner) }
        // A later instant needs no second candidate: the former one will be corrected.
        if former.map({ entry.neededUntil < $0.neededUntil || entry.owner != $0.owner }) ?? true {
            owners[owner]?.candidates.insert(Candidate(neededUntil: entry.neededUntil, name: name))
        }
    }

    mutating func remove(_ name: MediaName) {
        changedInScan?.insert(name)
        guard let former = entries.removeValue(forKey: name) else { return }
        credit(former)
        dropIfEmpty(former.owner)
    }

    private mutating func charge(_ entry: Entry) {
        bytes += entry.bytes
        owners[entry.owner, default: Usage()].bytes += entry.bytes
        owners[entry.owner]?.files += 1
    }

    private mutating func credit(_ entry: Entry) {
        bytes -= entry.bytes
        owners[entry.owner]?.bytes -= entry.bytes
        owners[entry.owner]?.files -= 1
    }

    private mutating func dropIfEmpty(_ owner: MediaOwner) {
        if owners[owner]?.isEmpty == true { owners[owner] = nil }
    }

    /// Reserves bytes for a download.
    ///
    /// - Parameters:
    ///   - count: 0 to make the files fit after the bound was lowered.
    ///   - owner: For whom. Over its share, only its own files may be evicted.
    ///   - now: In milliseconds since 1970. What is needed until now or earlier may be evicted, the earliest first.
    mutating func reserve(_ count: Int64, for owner: MediaOwner = .nobody, at now: Int64) -> Room {
        guard hasShare(count, owner) else {
            return evictable(of: owner, at: now).map { evict($0) } ?? .shareFull
        }
        let files = entries.count + (count > 0 ? 1 : 0)
        if count <= bound - bytes - reserved, files <= fileBound {
            reserved += count
            if count > 0 { owners[owner, default: Usage()].reserved += count }
            return .reserved
        }
        let all = Array(owners.keys)
        let first = all.compactMap { evictable(of: $0, at: now) }.min()
        return first.map { evict($0) } ?? .full
    }

    private func hasShare(_ count: Int64, _ owner: MediaOwner) -> Bool {
        guard owner != .nobody, count > 0, let usage = owners[owner] else { return true }
        return count <= share.bytes - usage.bytes - usage.reserved && usage.files < share.files
    }

    /// The file of an owner that has not been needed for longest, and is not needed now.
    private mutating func evictable(of owner: MediaOwner, at now: Int64) -> Candidate? {
        while let first = owners[owner]?.candidates.min, first.neededUntil <= now {
            guard let entry = entries[first.name], entry.owner == owner else {
                _ = owners[owner]?.candidates.popMin()
                continue
            }
            if entry.neededUntil <= first.neededUntil { return first }
            _ = owners[owner]?.candidates.popMin()
            owners[owner]?.candidates.insert(Candidate(neededUntil: entry.neededUntil, name: first.name))
        }
        return nil
    }

    private mutating func evict(_ candidate: Candidate) -> Room {
        guard let entry = entries[candidate.name] else { return .full }
        _ = owners[entry.owner]?.candidates.popMin()
        remove(candidate.name)
        return .evict(candidate.name, entry)
    }

    /// Gives reserved bytes back.
    mutating func release(_ count: Int64, for owner: MediaOwner = .nobody) {
        reserved -= count
        owners[owner]?.reserved -= count
        dropIfEmpty(owner)
    }

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
        bytes = 0
        owners = owners.filter { $0.value.reserved > 0 }.mapValues { Usage(reserved: $0.reserved) }
        for entry in found.values { charge(entry) }
        let candidates = Dictionary(grouping: found) { $0.value.owner }
        for (owner, files) in candidates {
            owners[owner]?.candidates = Heap(files.map { Candidate(neededUntil: $0.value.neededUntil, name: $0.key) })
        }
    }
}
