import NotificationModel

/// Reads records of the changelog into the stores of their partitions.
struct ChangelogReplay {
    /// What was found of one partition.
    struct Found {
        /// The last one.
        var marker: StateMarker?
        var records: Int64 = 0
        /// What the records so far stand for.
        fileprivate var position = StorePosition(lineage: "", offset: 0, writtenAt: Timestamp(rawValue: 0))
        /// The last change of each key since the store was given some.
        fileprivate var changes: [[UInt8]: StoreChange] = [:]
    }

    /// Changes of a partition given to its store at a time.
    private static let batch = 1000

    let stores: [Int32: any EntryStore]
    /// The name of `state`.
    let topic: String
    /// Changes that the stores may be behind, all together.
    let unwritten: Int
    let progress: (_ read: Int64, _ of: Int64) -> Void
    private var found: [Int32: Found] = [:]
    /// Given to the stores since they were all seen to be written.
    private var given = 0

    init(
        stores: [Int32: any EntryStore],
        topic: String,
        unwritten: Int,
        progress: @escaping (_ read: Int64, _ of: Int64) -> Void
    ) {
        (self.stores, self.topic, self.unwritten, self.progress) = (stores, topic, unwritten, progress)
    }

    subscript(number: Int32) -> Found { found[number] ?? Found() }

    /// The store was no base.
    mutating func forget(_ number: Int32) { found[number] = nil }

    /// Reads the ranges, and hands over what is in them.
    ///
    /// - Throws: `ConsumerRefusal` for what cannot be read, and what the link and the stores throw.
    mutating func read(_ ranges: [Int32: Range<Int64>], over link: some LaneLink) throws {
        let ranges = ranges.filter { !$0.value.isEmpty }
        guard !ranges.isEmpty else { return }
        let total = ranges.values.reduce(0) { $0 + Int64($1.count) }
        var count: Int64 = 0
        try link.readState(of: ranges, stallingAtMost: Restore.brokerDeadline) { number, offset, key, value in
            count += 1
            try take(number, offset, key, value)
            if count % 10_000 == 0 { progress(count, total) }
        }
        for number in ranges.keys.sorted() { try hand(number) }
        if count > 0 { progress(count, total) }
    }

    private mutating func take(_ number: Int32, _ offset: Int64, _ key: [UInt8], _ value: [UInt8]?) throws {
        found[number, default: Found()].records += 1
        guard key == StateMarker.key else {
            let read = try checked(number, offset) { () throws(ModelError) in try change(key, value) }
            let count = found[number, default: Found()].take(read)
            if count >= Self.batch { try hand(number) }
            return
        }
        guard let value else { return }
        let marker = try checked(number, offset) { () throws(ModelError) in try StateMarker(json: value) }
        found[number]?.marker = marker
        found[number]?.position = StorePosition(
            lineage: marker.lineage ?? "",
            offset: offset + 1,
            writtenAt: marker.wallTime
        )
    }

    private mutating func hand(_ number: Int32) throws {
        guard let store = stores[number], let position = found[number]?.position,
            let changes = found[number]?.takeChanges(), !changes.isEmpty || store.position != position
        else { return }
        try store.write(changes, position: position)
        given += changes.count
        // The changelog is read faster than a disk writes.
        guard given > unwritten else { return }
        given = stores.values.reduce(0) { $0 + $1.unwritten }
        guard given > unwritten else { return }
        for (_, store) in stores.sorted(by: { $0.key < $1.key }) { try store.flush() }
        given = 0
    }

    private func change(_ key: [UInt8], _ value: [UInt8]?) throws(ModelError) -> StoreChange {
        _ = try NotificationKey(encoded: key)
        guard let value else {
            return StoreChange(key: key, value: nil, due: nil, touched: Timestamp(rawValue: 0))
        }
        let head = try StateEntry.head(of: value)
        return StoreChange(key: key, value: value, due: head.due, touched: head.touched)
    }

    private func checked<Value>(
        _ partition: Int32,
        _ offset: Int64,
        _ read: () throws(ModelError) -> Value
    ) throws -> Value {
        do throws(ModelError) {
            return try read()
        } catch {
            guard error.reason == .unsupportedForm else {
                throw ConsumerRefusal.stateUnreadable(
                    topic: topic,
                    partition: partition,
                    offset: offset,
                    error.detail
                )
            }
            throw ConsumerRefusal.stateOfNewerForm(
                topic: topic,
                partition: partition,
                offset: offset,
                error.detail
            )
        }
    }
}

extension ChangelogReplay.Found {
    /// - Returns: how many have gathered.
    fileprivate mutating func take(_ change: StoreChange) -> Int {
        changes[change.key] = change
        return changes.count
    }

    fileprivate mutating func takeChanges() -> [StoreChange] {
        defer { changes.removeAll(keepingCapacity: true) }
        return Array(changes.values)
    }
}
