import NotificationModel
import NotificationState

/// Reads records of the changelog into the stores of their partitions.
///
/// Unreadable records are judged at the end, by ``judge()``: a later record may have replaced or removed them. Until
/// then no store gets a position after one.
struct ChangelogReader {
    /// The records found in one partition.
    struct Found {
        /// The last marker.
        var marker: StateMarker?
        var records: Int64 = 0
        /// Skipped records without a key: this service writes none, and no later record can replace them.
        var keyless: Int64 = 0
        fileprivate var unreadable = UnreadableRecords()
        /// The position that the records read so far represent.
        fileprivate var position = StorePosition(lineage: "", offset: 0, writtenAt: Timestamp(rawValue: 0))
        /// The changes since the last write to the store, in order.
        fileprivate var changes: [StoreChange] = []
    }

    let stores: [Int32: any EntryStore]
    /// The name of `state`.
    let topic: String
    /// For the command in a refusal.
    let brokers: [String]
    /// The maximum number of changes, over all stores, that are not written to disk yet.
    let unwritten: Int
    /// Called with the number of offsets passed and the total over all partitions.
    let progress: (_ read: Int64, _ of: Int64) -> Void
    private var found: [Int32: Found] = [:]
    /// Changes given to the stores since their unwritten changes were last counted.
    private var given = 0

    init(
        stores: [Int32: any EntryStore],
        topic: String,
        brokers: [String],
        unwritten: Int,
        progress: @escaping (_ read: Int64, _ of: Int64) -> Void
    ) {
        (self.stores, self.topic, self.brokers) = (stores, topic, brokers)
        (self.unwritten, self.progress) = (unwritten, progress)
    }

    subscript(number: Int32) -> Found { found[number] ?? Found() }

    /// Discards what was read of a partition whose store cannot be the base.
    mutating func forget(_ number: Int32) { found[number] = nil }

    /// Reads the ranges and writes their records to the stores.
    ///
    /// - Throws: `ConsumerRefusal` for more unreadable records than it can remember; errors of the link and the stores.
    mutating func read(_ ranges: [Int32: Range<Int64>], over link: some LaneLink) throws {
        let ranges = ranges.filter { !$0.value.isEmpty }
        guard !ranges.isEmpty else { return }
        let total = ranges.values.reduce(0) { $0 + Int64($1.count) }
        var (count, passed): (Int64, Int64) = (0, 0)
        // Offsets removed by compaction and transaction markers count as passed.
        var next = ranges.mapValues(\.lowerBound)
        try link.readState(of: ranges, stallingAtMost: Restore.brokerDeadline) { number, offset, key, value in
            count += 1
            passed += offset + 1 - (next.updateValue(offset + 1, forKey: number) ?? offset)
            switch found[number, default: Found()].take(offset, key, value) {
            case .nothing: break
            case .writing: try hand(number)
            case .judgement: try judge()
            }
            if count % 10_000 == 0 { progress(passed, total) }
        }
        for number in ranges.keys.sorted() { try hand(number) }
        if count > 0 { progress(total, total) }
    }

    private mutating func hand(_ number: Int32) throws {
        guard let store = stores[number], let position = found[number]?.position,
            let isReadable = found[number]?.unreadable.isEmpty,
            let changes = found[number]?.takeChanges(), !changes.isEmpty || store.position != position
        else { return }
        // A store that is not filled to the end cannot be a base.
        let unfilled = StorePosition(lineage: "", offset: 0, writtenAt: Timestamp(rawValue: 0))
        try store.write(changes, position: isReadable ? position : unfilled)
        given += changes.count
        // The changelog is read faster than a disk can write.
        guard given > unwritten else { return }
        given = stores.values.reduce(0) { $0 + $1.unwritten }
        guard given > unwritten else { return }
        for (_, store) in stores.sorted(by: { $0.key < $1.key }) { try store.flush() }
        given = 0
    }

    /// - Throws: `ConsumerRefusal` when unreadable records remain; records of a newer version are reported first.
    func judge() throws {
        let all = found.sorted { $0.key < $1.key }.flatMap { number, found in
            found.unreadable.records.map { (partition: number, record: $0) }
        }
        if let newer = all.first(where: { $0.record.error.reason == .unsupportedForm }) {
            throw ConsumerRefusal.stateOfNewerForm(
                topic: topic,
                partition: newer.partition,
                offset: newer.record.offset,
                newer.record.error.detail
            )
        }
        guard let first = all.first else { return }
        throw ConsumerRefusal.stateUnreadable(
            topic: topic,
            places: all.map { .init(partition: $0.partition, offset: $0.record.offset) },
            reason: first.record.error.detail,
            brokers: brokers
        )
    }
}

extension ChangelogReader.Found {
    /// What the records taken so far make necessary.
    fileprivate enum Need { case nothing, writing, judgement }

    /// Changes of a partition written to its store at a time.
    private static var batch: Int { 1000 }

    fileprivate mutating func take(_ offset: Int64, _ key: [UInt8]?, _ value: [UInt8]?) -> Need {
        records += 1
        guard let key else {
            keyless += 1
            return .nothing
        }
        let record: StateRecord
        do throws(ModelError) {
            record = try StateRecord(key: key, value: value)
        } catch {
            unreadable.note(key, at: offset, error)
            return unreadable.isFull ? .judgement : .nothing
        }
        unreadable.forget(key)
        switch record {
        case .marker(let read):
            marker = read
            position = StorePosition(lineage: read.lineage ?? "", offset: offset + 1, writtenAt: read.wallTime)
        case .entry(let head):
            changes.append(
                StoreChange(key: key, value: value, due: head.due, touched: head.touched, open: head.open)
            )
        case .tombstone where key == StateMarker.key:
            // It removed an unreadable marker; the previous marker remains valid.
            break
        case .tombstone:
            changes.append(StoreChange(key: key, value: nil, due: nil, touched: Timestamp(rawValue: 0)))
        }
        return changes.count >= Self.batch ? .writing : .nothing
    }

    fileprivate mutating func takeChanges() -> [StoreChange] {
        defer { changes = [] }
        return changes
    }
}
