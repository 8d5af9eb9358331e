import Kafka
import NotificationConsumer
import NotificationModel
import NotificationState
import Testing

@testable import CarillonSimulation

struct SimulatedLinkTests {
    private let cluster = Cluster()

    private func request(_ value: String, _ partition: Int32 = 0) {
        cluster.broker.log(cluster.topics.requests, partition).append(record("k", value))
    }

    @Test func `a member reads the records of its partitions in order, and then new ones`() throws {
        request("1")
        request("2")
        let reader = try Reader(cluster.link())
        try reader.poll(seconds: 5)
        #expect(reader.owned == [0, 1])
        #expect(reader.read == ["1", "2"])
        cluster.timeline.add(after: 500_000) { request("3") }
        try reader.poll(seconds: 1)
        #expect(reader.read == ["1", "2", "3"])
    }

    @Test func `a second member gets its share after the first has given up its partitions`() throws {
        let a = try Reader(cluster.link("a"))
        try a.poll(seconds: 5)
        let b = try Reader(cluster.link("b"))
        for _ in 0..<8 {
            try a.poll(seconds: 1)
            try b.poll(seconds: 1)
        }
        #expect(a.hooks == ["assign [0, 1]", "revoke [0, 1]", "assign [0]"])
        #expect(b.hooks == ["assign [1]"])
    }

    @Test func `a paused process detects later that it lost its partitions, and its commits are refused`() throws {
        let process = cluster.process("a")
        let a = try Reader(cluster.link("a", transactionalID: "a", process: process))
        let b = try Reader(cluster.link("b"))
        try a.poll(seconds: 5)
        try b.poll(seconds: 5)
        try a.poll(seconds: 5)
        try b.poll(seconds: 1)
        #expect(a.owned == [0])
        try a.link.initTransactions(within: .seconds(10))
        process.pause(for: 30_000_000)
        try b.poll(seconds: 20)
        #expect(b.owned == [0, 1])
        cluster.timeline.advance(to: process.pausedUntil)
        try a.link.beginTransaction()
        try a.link.publish("k", "zombie")
        a.link.settle()
        #expect {
            try a.link.sendOffsets([InputPartition(.requests, 0): 1], within: .seconds(10))
        } throws: {
            ($0 as? KafkaError)?.requiresAbort == true
        }
        #expect {
            try a.link.commitTransaction(within: .seconds(10))
        } throws: {
            ($0 as? KafkaError)?.requiresAbort == true
        }
        try a.link.abortTransaction(within: .seconds(10))
        #expect(cluster.state() == [])
        #expect(throws: LaneEnd.suspended) { try a.poll(seconds: 5) }
    }

    @Test
    func `a member without a connection to the coordinator loses its partitions, and its producer continues to work`()
        throws
    {
        let a = try Reader(cluster.link("a", transactionalID: "a"))
        try a.poll(seconds: 5)
        try a.link.initTransactions(within: .seconds(10))
        #expect(!a.link.isOutOfTouch)
        a.link.loseCoordinator(for: 30_000_000)
        #expect(a.link.isOutOfTouch)
        try a.link.beginTransaction()
        try a.link.publish("k", "unheard")
        a.link.settle()
        try a.link.sendOffsets([InputPartition(.requests, 0): 1], within: .seconds(10))
        try a.link.commitTransaction(within: .seconds(10))
        #expect(cluster.state() == ["unheard"])
        #expect(throws: KafkaError.self) {
            try a.link.committedOffsets(of: [InputPartition(.requests, 0)], within: .seconds(1))
        }
        try a.poll(seconds: 20)
        #expect(a.hooks == ["assign [0, 1]", "lost [0, 1]"])
        #expect(a.link.isOutOfTouch)
        try a.poll(seconds: 20)
        #expect(a.owned == [0, 1])
        #expect(!a.link.isOutOfTouch)
    }

    @Test func `a member that reconnects within its session keeps its partitions`() throws {
        let reader = try Reader(cluster.link())
        try reader.poll(seconds: 5)
        reader.link.loseCoordinator(for: 4_000_000)
        try reader.poll(seconds: 20)
        #expect(reader.hooks == ["assign [0, 1]"])
    }

    @Test func `a member that gives up its session while it waits for a round leaves no other member behind`() throws {
        let group = cluster.broker.group
        group.join("one that never joins again")
        cluster.timeline.advance(to: cluster.timeline.now + GroupCoordinator.initialDelay)
        let reader = try Reader(cluster.link())
        reader.link.loseCoordinator(for: 9_999_000)
        try reader.poll(seconds: 80)
        #expect(group.memberIDs.count == 1)
        #expect(reader.owned == [0, 1])
    }

    @Test func `a slow broker accepts records one after the other, at its rate`() throws {
        cluster.broker.bytesPerSecond = 1000
        let began = cluster.timeline.now
        let link = cluster.link()
        for tag in 0..<4 { try link.publish("k", String(repeating: "x", count: 500), tag: UInt(tag)) }
        link.settle()
        let time = cluster.timeline.now - began
        #expect(time > 2_000_000)
        #expect((2_000_000...time).contains(cluster.broker.busyTime(since: began)))
        #expect(cluster.broker.busyTime(since: cluster.timeline.now) == 0)
    }

    @Test func `paused reading returns no records, and continues at its position`() throws {
        let reader = try Reader(cluster.link())
        try reader.poll(seconds: 4)
        reader.link.pauseReading()
        request("1")
        try reader.poll()
        #expect(reader.read.isEmpty)
        reader.link.resumeReading()
        try reader.poll()
        #expect(reader.read == ["1"])
    }

    @Test func `an input that is paused by itself stays so when reading is resumed`() throws {
        let reader = try Reader(cluster.link())
        try reader.poll(seconds: 4)
        reader.link.pause([InputPartition(.requests, 0)])
        request("1")
        request("2", 1)
        reader.link.pauseReading()
        reader.link.resumeReading()
        try reader.poll()
        #expect(reader.read == ["2"])
        reader.link.resume([InputPartition(.requests, 0)])
        try reader.poll()
        #expect(reader.read == ["2", "1"])
    }

    @Test func `an offset outside the partition is an error, not a reset`() throws {
        request("1")
        request("2")
        cluster.broker.log(cluster.topics.requests, 0).deleteRecords(before: 1)
        let reader = try Reader(cluster.link())
        #expect(throws: KafkaError.offsetOutOfRange) { try reader.poll(seconds: 5) }
    }

    @Test func `each record is reported once, in order`() throws {
        let link = cluster.link()
        for index in 0..<200 { try link.publish("k", "\(index)", tag: UInt(index)) }
        let reports = link.settle()
        #expect(reports.map(\.tag) == (0..<200).map(UInt.init))
        #expect(reports.allSatisfy { $0.error == nil })
        #expect(cluster.state() == (0..<200).map(String.init))
    }

    @Test func `a full queue is backpressure`() throws {
        let link = cluster.link()
        link.producer.capacity = 2
        try link.publish("k", "1")
        try link.publish("k", "2")
        #expect(throws: KafkaError.queueIsFullHere) { try link.publish("k", "3") }
        link.settle()
        try link.publish("k", "3")
    }

    @Test func `a lost acknowledgement is retried without a duplicate`() throws {
        let link = cluster.link()
        link.faults.rate = 1000
        for index in 0..<50 { try link.publish("k", "\(index)") }
        link.settle()
        #expect(cluster.state() == (0..<50).map(String.init))
    }

    @Test func `a transaction becomes visible with its commit, with its offsets`() throws {
        let reader = try Reader(cluster.link(transactionalID: "t"))
        let link = reader.link
        try reader.poll(seconds: 4)
        #expect(throws: KafkaError.notNow) { try link.beginTransaction() }
        try link.initTransactions(within: .seconds(10))
        #expect(throws: KafkaError.notNow) { try link.publish("k", "outside") }
        try link.beginTransaction()
        try link.publish("k", "1")
        link.settle()
        #expect(cluster.state() == [])
        try link.sendOffsets([InputPartition(.requests, 0): 7], within: .seconds(10))
        try link.commitTransaction(within: .seconds(10))
        #expect(cluster.state() == ["1"])
        #expect(link.committed(InputPartition(.requests, 0)) == 7)
        try link.beginTransaction()
        try link.commitTransaction(within: .seconds(10))
    }

    @Test func `a transaction cannot be committed before its reports are served`() throws {
        let link = cluster.link(transactionalID: "t")
        try link.initTransactions(within: .seconds(10))
        try link.beginTransaction()
        try link.publish("k", "1")
        #expect {
            try link.commitTransaction(within: .seconds(2))
        } throws: {
            ($0 as? KafkaError)?.isRetriable == true
        }
        link.settle()
        try link.commitTransaction(within: .seconds(2))
        #expect(cluster.state() == ["1"])
    }

    @Test func `an abort removes queued and written records`() throws {
        let link = cluster.link(transactionalID: "t")
        try link.initTransactions(within: .seconds(10))
        try link.beginTransaction()
        try link.publish("k", "written")
        link.settle()
        try link.publish("k", "queued", tag: 9)
        try link.abortTransaction(within: .seconds(10))
        let reports = link.settle()
        #expect(reports.map(\.tag) == [9])
        #expect(reports.first?.error != nil)
        #expect(cluster.state() == [])
        #expect(cluster.state(committed: false) == ["written"])
        try link.beginTransaction()
        try link.publish("k", "next")
        link.settle()
        try link.commitTransaction(within: .seconds(10))
        #expect(cluster.state() == ["next"])
    }

    /// Calls of a transaction: 1 init, 2 begin, 3 enqueue, then reports, and the commit.
    private func commit(with fault: LinkFault) throws -> (SimulatedLink, Int) {
        let probe = Cluster().link(transactionalID: "t")
        try probe.initTransactions(within: .seconds(10))
        try probe.beginTransaction()
        try probe.publish("k", "1")
        probe.settle()
        let step = probe.steps + 1
        let link = cluster.link(transactionalID: "t", faults: [step: fault])
        try link.initTransactions(within: .seconds(10))
        try link.beginTransaction()
        try link.publish("k", "1")
        link.settle()
        return (link, step)
    }

    @Test func `a commit whose answer is lost has its effect, and can be requested again`() throws {
        let (link, _) = try commit(with: .loseReply)
        #expect(throws: KafkaError.noReply) { try link.commitTransaction(within: .seconds(10)) }
        #expect(cluster.state() == ["1"])
        #expect(throws: KafkaError.notNow) { try link.beginTransaction() }
        #expect(throws: KafkaError.notNow) { try link.abortTransaction(within: .seconds(10)) }
        try link.commitTransaction(within: .seconds(10))
        try link.beginTransaction()
        #expect(cluster.state() == ["1"])
    }

    @Test(arguments: [(LinkFault.crashBefore, [String]()), (.crashAfter, ["1"])])
    func `a crash at a commit occurs before or after its effect, and ends the process`(
        fault: LinkFault,
        state: [String]
    ) throws {
        let (link, _) = try commit(with: fault)
        #expect(throws: KafkaError.processEnded) { try link.commitTransaction(within: .seconds(10)) }
        #expect(cluster.state() == state)
        #expect(throws: KafkaError.processEnded) { try link.initTransactions(within: .seconds(10)) }
        #expect(throws: KafkaError.processEnded) { try link.poll(within: .seconds(1)) { _, _ in } }
        let before = link.now
        link.wait(.seconds(1))
        #expect(link.now > before, "what waits in a process that ended comes to its end")
        cluster.timeline.advance(to: cluster.timeline.now + 20_000_000)
        #expect(cluster.state() == state)
    }

    @Test func `a repeated request has no second effect, and a failed one has no effect`() throws {
        let (link, _) = try commit(with: .repeated)
        try link.commitTransaction(within: .seconds(10))
        #expect(cluster.state() == ["1"])
        let (other, _) = try commit(with: .fail(.connectionBroke))
        #expect(throws: KafkaError.connectionBroke) { try other.commitTransaction(within: .seconds(10)) }
        #expect(cluster.state() == ["1"])
        try other.commitTransaction(within: .seconds(10))
        #expect(cluster.state() == ["1", "1"])
    }

    @Test func `a commit after the transaction timeout is refused`() throws {
        let (link, _) = try commit(with: .delay(11_000_000))
        #expect(throws: KafkaError.producerFenced) { try link.commitTransaction(within: .seconds(10)) }
        #expect(cluster.state() == [])
    }

    @Test func `the changelog is read to its end, also if another process left a transaction open`() throws {
        let left = cluster.link("left", transactionalID: "left")
        try left.initTransactions(within: .seconds(10))
        try left.beginTransaction()
        try left.publish("k", "aborted")
        left.settle()
        left.process.crash()
        cluster.broker.log(cluster.topics.state, 0).append(record("k", "kept"))
        let link = cluster.link()
        let (low, high) = try #require(try link.stateBounds(of: [0], within: .seconds(10))[0])
        #expect((low, high) == (0, 2))
        var read: [String] = []
        let begin = link.now
        try link.readState(of: [0: low..<high], stallingAtMost: .seconds(30)) {
            read.append(String(decoding: $3 ?? [], as: UTF8.self))
        }
        #expect(read == ["kept"])
        #expect(link.now - begin > .seconds(5), "it waited for the coordinator to abort")
        #expect(throws: LaneLinkError.stalled(partition: 0, at: 3, end: 9)) {
            try link.readState(of: [0: 3..<9], stallingAtMost: .seconds(1)) { _, _, _, _ in }
        }
    }

    @Test func `closing gives up the partitions and leaves the group`() throws {
        let reader = try Reader(cluster.link())
        try reader.poll(seconds: 4)
        reader.link.close(within: .seconds(1))
        #expect(reader.hooks.last == "revoke [0, 1]")
        #expect(cluster.broker.group.memberIDs.isEmpty)
        #expect(reader.link.outstanding == 0)
    }
}
