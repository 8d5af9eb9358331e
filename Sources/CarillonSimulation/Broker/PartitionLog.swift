import Kafka
import NotificationModel

/// The producer of a record.
struct ProducerStamp: Hashable {
    var id: Int64
    var epoch: Int32
}

/// A record in a partition's log.
struct LogRecord {
    enum Kind: Hashable {
        case data
        /// The control record that ends a transaction: it has an offset, but no consumer receives it.
        case control(commit: Bool)
    }

    var offset: Int64 = -1
    /// Milliseconds since 1970.
    var timestamp: Int64
    var key: [UInt8]?
    var value: [UInt8]?
    var headers: [KafkaHeader] = []
    var producer: ProducerStamp?
    /// The generation of the group in which a lane wrote it; for the checks.
    var generation: Int?
    var isTransactional = false
    var kind = Kind.data

    /// The size that a client compares with its limit.
    var wireBytes: Int {
        RecordBound.size(
            key: key?.count ?? 0,
            value: value?.count ?? 0,
            headers: headers.count,
            headerBytes: headers.reduce(0) { $0 + $1.name.utf8.count + ($1.value?.count ?? 0) }
        )
    }
}

/// The log of one partition, with one replica that never fails: the high watermark is the end of the log.
final class PartitionLog {
    /// When they were cleaned first, by their offsets.
    private var cleanedTombstones: [Int64: Int64] = [:]
    /// In the order of their offsets; compaction leaves gaps.
    private(set) var records: [LogRecord] = []
    /// The first offset of the log.
    private(set) var start: Int64 = 0
    /// The offset after the last record.
    private(set) var end: Int64 = 0
    /// Open transactions: producer id and first offset.
    private var open: [(producer: Int64, first: Int64)] = []
    /// Aborted transactions: producer id, first and last offset.
    private var aborted: [(producer: Int64, first: Int64, last: Int64)] = []

    /// The last stable offset: a `read_committed` client reads up to here.
    var lastStable: Int64 { open.map(\.first).min() ?? end }

    /// Whether a transaction is open.
    var hasOpen: Bool { !open.isEmpty }

    @discardableResult
    func append(_ record: LogRecord) -> Int64 {
        var record = record
        record.offset = end
        end += 1
        if record.isTransactional, let producer = record.producer, !open.contains(where: { $0.producer == producer.id })
        {
            open.append((producer.id, record.offset))
        }
        records.append(record)
        return record.offset
    }

    /// Ends the transaction of a producer with a control record.
    func endTransaction(of producer: ProducerStamp, commit: Bool, at timestamp: Int64) {
        let first = open.first { $0.producer == producer.id }?.first
        open.removeAll { $0.producer == producer.id }
        let last = append(
            LogRecord(timestamp: timestamp, producer: producer, kind: .control(commit: commit))
        )
        if !commit, let first { aborted.append((producer.id, first, last)) }
    }

    func isAborted(_ record: LogRecord) -> Bool {
        guard record.isTransactional, let producer = record.producer else { return false }
        return aborted.contains { $0.producer == producer.id && $0.first <= record.offset && record.offset <= $0.last }
    }

    /// Reads data records from an offset; skips control records, gaps and, when `committed`, aborted records.
    ///
    /// - Returns: the records, and the position after the last record examined.
    func read(
        from position: Int64,
        to limit: Int64 = .max,
        committed: Bool,
        atMost count: Int = .max
    ) -> (records: [LogRecord], position: Int64) {
        let end = min(limit, committed ? lastStable : self.end)
        var found: [LogRecord] = []
        var index = firstIndex(at: position)
        while index < records.count, records[index].offset < end {
            let record = records[index]
            index += 1
            guard record.kind == .data, !committed || !isAborted(record) else { continue }
            found.append(record)
            if found.count == count { return (found, record.offset + 1) }
        }
        return (found, max(position, end))
    }

    private func firstIndex(at offset: Int64) -> Int {
        var (low, high) = (0, records.count)
        while low < high {
            let middle = (low + high) / 2
            if records[middle].offset < offset { low = middle + 1 } else { high = middle }
        }
        return low
    }

    // MARK: - Cleaning

    /// Keeps the last record of each key; offsets do not change. Removes tombstones `deleteRetention` after they were cleaned first, as
    /// Kafka does (KIP-534): a reader that has begun before finds them.
    ///
    /// - Parameters:
    ///   - tail: The start of the active segment, which is not compacted.
    ///   - lag: The age in milliseconds below which a record is not removed.
    func compact(at now: Int64, tail: Int64, lag: Int64, deleteRetention: Int64) {
        let limit = min(tail, lastStable)
        var last: [[UInt8]: Int64] = [:]
        for record in records where record.offset < limit && record.kind == .data && !isAborted(record) {
            guard record.timestamp <= now - lag, let key = record.key else { continue }
            last[key] = record.offset
        }
        records.removeAll { record in
            guard record.offset < limit, record.timestamp <= now - lag else { return false }
            guard record.kind == .data, let key = record.key else {
                return record.kind != .data && record.timestamp <= now - deleteRetention
            }
            if isAborted(record) { return true }
            if last[key] != record.offset { return true }
            guard record.value == nil else { return false }
            let cleaned = cleanedTombstones[record.offset, default: now]
            cleanedTombstones[record.offset] = cleaned
            return cleaned <= now - deleteRetention
        }
    }

    /// Deletes the records before an offset.
    func deleteRecords(before offset: Int64) {
        let offset = min(offset, lastStable)
        guard offset > start else { return }
        start = offset
        records.removeAll { $0.offset < offset }
        aborted.removeAll { $0.last < offset }
    }
}
