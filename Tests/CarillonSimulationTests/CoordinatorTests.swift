import Kafka
import NotificationModel
import Testing

@testable import CarillonSimulation

struct TransactionCoordinatorTests {
    private let place = KafkaTopicPartition(topic: "requests", partition: 0)
    private let cluster = Cluster()
    private var broker: SimulatedBroker { cluster.broker }

    private func write(_ value: String, as id: String, _ producer: ProducerStamp) throws(KafkaError) {
        var record = record("k", value)
        record.producer = producer
        record.isTransactional = true
        try broker.produce(record, to: cluster.topics.state, 0, transactionalID: id)
    }

    @Test func `a new producer with the same id aborts the open transaction and fences the old producer`() throws {
        let old = broker.transactions.initialise("id")
        try write("1", as: "id", old)
        let new = broker.transactions.initialise("id")
        #expect(new.id == old.id && new.epoch > old.epoch)
        #expect(cluster.state() == [])
        #expect(throws: KafkaError.producerFenced) { try write("2", as: "id", old) }
        #expect(throws: KafkaError.producerFenced) { try broker.transactions.end("id", old, commit: true) }
        try write("3", as: "id", new)
        try broker.transactions.end("id", new, commit: true)
        #expect(cluster.state() == ["3"])
        #expect(cluster.state(committed: false) == ["1", "3"])
    }

    @Test func `ending a transaction again in the same way has no effect, in another way it is an error`() throws {
        let producer = broker.transactions.initialise("id")
        try write("1", as: "id", producer)
        try broker.transactions.end("id", producer, commit: true)
        let end = broker.log(cluster.topics.state, 0).end
        try broker.transactions.end("id", producer, commit: true)
        #expect(broker.log(cluster.topics.state, 0).end == end)
        #expect(throws: KafkaError.wrongTransactionState) {
            try broker.transactions.end("id", producer, commit: false)
        }
    }

    @Test func `a transaction that is open for too long is aborted, and its producer fenced`() throws {
        let producer = broker.transactions.initialise("id")
        try write("1", as: "id", producer)
        cluster.timeline.advance(to: 9_999_999)
        #expect(broker.transactions.isOpen("id"))
        cluster.timeline.advance(to: 10_000_000)
        #expect(!broker.transactions.isOpen("id"))
        #expect(broker.log(cluster.topics.state, 0).lastStable == 2)
        #expect(throws: KafkaError.producerFenced) { try write("2", as: "id", producer) }
    }

    @Test func `a transaction ends when its end is written, and the next one waits for that`() throws {
        broker.transactions.writingTime = { 500_000 }
        let producer = broker.transactions.initialise("id")
        try write("1", as: "id", producer)
        try broker.transactions.end("id", producer, commit: true)
        #expect(cluster.state() == [])
        cluster.timeline.advance(to: 500_000)
        #expect(cluster.state() == ["1"])
        try write("2", as: "id", producer)
        try broker.transactions.end("id", producer, commit: true)
        #expect(cluster.state() == ["1"])
        try write("3", as: "id", producer)
        #expect(cluster.state() == ["1", "2"])
    }

    @Test func `the timeout of one transaction does not abort the next`() throws {
        let producer = broker.transactions.initialise("id")
        try write("1", as: "id", producer)
        try broker.transactions.end("id", producer, commit: true)
        cluster.timeline.advance(to: 6_000_000)
        try write("2", as: "id", producer)
        cluster.timeline.advance(to: 12_000_000)
        try broker.transactions.end("id", producer, commit: true)
        #expect(cluster.state() == ["1", "2"])
    }

    @Test func `offsets take effect with the commit, and only from a member of the generation`() throws {
        broker.group.join("m")
        cluster.timeline.advance(to: 1_000_000)
        let generation = broker.group.generation
        let producer = broker.transactions.initialise("id")
        try write("1", as: "id", producer)
        #expect(throws: KafkaError.illegalGeneration) {
            try broker.transactions.add(
                offsets: [(place, 5)],
                from: .init(id: "m", generation: generation - 1),
                of: broker.group,
                to: "id",
                producer
            )
        }
        #expect(throws: KafkaError.unknownMember) {
            try broker.transactions.add(
                offsets: [(place, 5)],
                from: .init(id: "x", generation: generation),
                of: broker.group,
                to: "id",
                producer
            )
        }
        try broker.transactions.add(
            offsets: [(place, 5)],
            from: .init(id: "m", generation: generation),
            of: broker.group,
            to: "id",
            producer
        )
        #expect(broker.group.committed(place) == nil)
        try broker.transactions.end("id", producer, commit: true)
        #expect(broker.group.committed(place) == 5)
    }

    @Test func `offsets of an aborted transaction have no effect`() throws {
        broker.group.join("m")
        cluster.timeline.advance(to: 1_000_000)
        let producer = broker.transactions.initialise("id")
        try broker.transactions.add(
            offsets: [(place, 5)],
            from: .init(id: "m", generation: broker.group.generation),
            of: broker.group,
            to: "id",
            producer
        )
        try broker.transactions.end("id", producer, commit: false)
        #expect(broker.group.committed(place) == nil)
    }

    @Test func `a record with a known sequence number is not written again`() throws {
        let producer = ProducerStamp(id: broker.newProducerID(), epoch: 0)
        var record = record("k", "1")
        record.producer = producer
        let first = try broker.produce(record, to: cluster.topics.state, 0, sequence: 1)
        let again = try broker.produce(record, to: cluster.topics.state, 0, sequence: 1)
        #expect(first == again)
        #expect(cluster.state() == ["1"])
        try broker.produce(record, to: cluster.topics.state, 1, sequence: 1)
        #expect(cluster.state(1) == ["1"], "sequences count in each partition")
    }
}

struct GroupCoordinatorTests {
    private let place = KafkaTopicPartition(topic: "requests", partition: 0)
    private let cluster = Cluster(partitions: 3)
    private var group: GroupCoordinator { cluster.broker.group }

    private func assignment(_ id: String) -> [Int32]? {
        if case .stable(_, let partitions) = group.standing(of: id) { partitions } else { nil }
    }

    @Test func `range assigns consecutive partitions to each member, one more to the first members`() {
        group.join("b")
        group.join("a")
        #expect(group.standing(of: "a") == .waiting)
        cluster.timeline.advance(to: 1_000_000)
        #expect(assignment("a") == [0, 1])
        #expect(assignment("b") == [2])
        #expect(group.generation == 1)
    }

    @Test func `a new member waits until the others have given up their partitions`() {
        group.join("a")
        cluster.timeline.advance(to: 1_000_000)
        group.join("b")
        #expect(group.standing(of: "a") == .mustRejoin)
        #expect(group.standing(of: "b") == .waiting)
        cluster.timeline.advance(to: 5_000_000)
        #expect(group.standing(of: "b") == .waiting)
        group.join("a")
        #expect(assignment("a") == [0, 1])
        #expect(group.generation == 2)
    }

    @Test func `a member that does not give up its partitions in time is removed`() {
        group.join("a")
        cluster.timeline.advance(to: 1_000_000)
        group.join("b")
        cluster.timeline.advance(to: 62_000_000)
        #expect(group.standing(of: "a") == .unknown)
        #expect(assignment("b") == [0, 1, 2])
        #expect(throws: KafkaError.unknownMember) { try group.check("a", generation: 1) }
    }

    @Test func `a member without heartbeats is removed after the session timeout, but not before`() {
        group.join("a")
        group.join("b")
        cluster.timeline.advance(to: 1_000_000)
        group.stopHeartbeats("a")
        group.stopHeartbeats("b")
        cluster.timeline.advance(to: 8_000_000)
        group.sendHeartbeats("b")
        cluster.timeline.advance(to: 12_000_000)
        #expect(group.standing(of: "a") == .unknown)
        #expect(group.standing(of: "b") == .mustRejoin)
        group.join("b")
        #expect(assignment("b") == [0, 1, 2])
    }

    @Test func `added partitions are assigned after all members have joined again`() {
        group.join("a")
        cluster.timeline.advance(to: 1_000_000)
        group.add(partitions: 5)
        #expect(group.standing(of: "a") == .mustRejoin)
        group.join("a")
        #expect(assignment("a") == [0, 1, 2, 3, 4])
    }

    @Test func `offsets can be set from outside only while the group has no members`() throws {
        group.join("a")
        cluster.timeline.advance(to: 1_000_000)
        try group.commit([(place, 3)], from: "a", generation: 1)
        group.reset(place, to: 1)
        #expect(group.committed(place) == 3)
        group.leave("a")
        group.reset(place, to: 1)
        #expect(group.committed(place) == 1)
        group.reset(place, to: nil)
        #expect(group.committed(place) == nil)
    }

    @Test func `offsets are accepted only from the current generation`() throws {
        group.join("a")
        cluster.timeline.advance(to: 1_000_000)
        try group.commit([(place, 3)], from: "a", generation: 1)
        #expect(group.committed(place) == 3)
        #expect(throws: KafkaError.illegalGeneration) { try group.commit([(place, 9)], from: "a", generation: 0) }
        group.leave("a")
        #expect(throws: KafkaError.unknownMember) { try group.commit([(place, 9)], from: "a", generation: 1) }
        #expect(group.committed(place) == 3)
    }
}
