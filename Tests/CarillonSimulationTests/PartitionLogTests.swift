import Kafka
import Testing

@testable import CarillonSimulation

struct PartitionLogTests {
    private let producer = ProducerStamp(id: 1, epoch: 0)

    private func transactional(_ value: String, of producer: ProducerStamp) -> LogRecord {
        var record = record("k", value)
        record.producer = producer
        record.isTransactional = true
        return record
    }

    @Test func `an open transaction stops committed readers, also before later records of other producers`() {
        let log = PartitionLog()
        log.append(record("k", "1"))
        log.append(transactional("2", of: producer))
        log.append(record("k", "3"))
        #expect(log.values() == ["1"])
        #expect(log.values(committed: false) == ["1", "2", "3"])
        #expect(log.lastStable == 1)
        #expect(log.end == 3)
        log.endTransaction(of: producer, commit: true, at: 0)
        #expect(log.values() == ["1", "2", "3"])
        #expect(log.lastStable == 4)
    }

    @Test func `only uncommitted readers see aborted records, and all readers see the producer's later records`() {
        let log = PartitionLog()
        log.append(transactional("1", of: producer))
        log.endTransaction(of: producer, commit: false, at: 0)
        log.append(transactional("2", of: producer))
        log.endTransaction(of: producer, commit: true, at: 0)
        #expect(log.values() == ["2"])
        #expect(log.values(committed: false) == ["1", "2"])
    }

    @Test func `a reader's position skips control records and aborted records`() {
        let log = PartitionLog()
        log.append(transactional("1", of: producer))
        log.endTransaction(of: producer, commit: false, at: 0)
        let (records, position) = log.read(from: 0, committed: true)
        #expect(records.isEmpty)
        #expect(position == 2)
        #expect(log.read(from: 0, to: 1, committed: true).position == 1)
    }

    @Test func `compaction keeps the last record of each key, and the offsets`() {
        let log = PartitionLog()
        for (key, value) in [("a", "1"), ("b", "2"), ("a", "3"), ("a", "4")] { log.append(record(key, value)) }
        log.compact(at: 1000, tail: 3, lag: 0, deleteRetention: 0)
        #expect(
            log.values() == ["2", "3", "4"],
            "the active segment is kept, and does not replace earlier records"
        )
        #expect(log.read(from: 0, committed: true).records.map(\.offset) == [1, 2, 3])
        #expect(log.values(from: 1) == ["2", "3", "4"])
        #expect(log.end == 4)
    }

    @Test func `a tombstone is removed its retention after it was cleaned first, and not before`() {
        let log = PartitionLog()
        log.append(record("a", "1", at: 0))
        log.append(record("a", nil, at: 100))
        log.append(record("b", "2", at: 100))
        log.compact(at: 150, tail: 3, lag: 0, deleteRetention: 100)
        #expect(log.read(from: 0, committed: true).records.map(\.offset) == [1, 2])
        log.compact(at: 249, tail: 3, lag: 0, deleteRetention: 100)
        #expect(log.read(from: 0, committed: true).records.map(\.offset) == [1, 2])
        log.compact(at: 250, tail: 3, lag: 0, deleteRetention: 100)
        #expect(log.read(from: 0, committed: true).records.map(\.offset) == [2])
    }

    @Test func `compaction keeps records younger than the lag, and records after the last stable offset`() {
        let log = PartitionLog()
        log.append(record("a", "1", at: 0))
        log.append(record("a", "2", at: 90))
        log.compact(at: 100, tail: 2, lag: 50, deleteRetention: 0)
        #expect(log.values() == ["1", "2"], "the newer one is too young to take the place of the older")
        log.append(transactional("3", of: producer))
        log.append(record("a", "4", at: 90))
        log.compact(at: 1000, tail: 4, lag: 50, deleteRetention: 0)
        #expect(log.values(committed: false) == ["2", "3", "4"])
    }

    @Test func `compaction removes aborted records, and does not count them as the last of their key`() {
        let log = PartitionLog()
        log.append(record("k", "1"))
        log.append(transactional("2", of: producer))
        log.endTransaction(of: producer, commit: false, at: 0)
        log.append(record("z", "3"))
        log.compact(at: 1000, tail: 4, lag: 0, deleteRetention: 0)
        #expect(log.values() == ["1", "3"])
        #expect(log.values(committed: false) == ["1", "3"])
    }

    @Test func `retention moves the start of the log`() {
        let log = PartitionLog()
        for value in ["1", "2", "3"] { log.append(record("k", value)) }
        log.deleteRecords(before: 2)
        #expect(log.start == 2)
        #expect(log.values() == ["3"])
        log.deleteRecords(before: 1)
        #expect(log.start == 2, "it never moves back")
    }
}
