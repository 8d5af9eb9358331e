import Foundation
import Kafka
import NotificationModel
import NotificationState
import ServiceSupport
import Testing

@testable import NotificationConsumer

/// The number of bytes that a checkpoint may write, as a value.
struct CheckpointBudgetTests {
    private static let megabyte = 1_000_000.0

    /// Fills and acknowledges checkpoints at a broker's rate in bytes per second.
    ///
    /// - Returns: how long each took, in seconds.
    private static func run(_ budget: inout CheckpointBudget, _ count: Int, rate: Double, record: Int = 1000)
        -> [Double]
    {
        var now = ContinuousClock.now
        return (0..<count).map { _ in
            let began = now
            var bytes = 0.0
            while !budget.isFull {
                budget.add(record, isOfCut: false, at: now)
                bytes += Double(record)
            }
            budget.cut(at: now)
            budget.add(record, isOfCut: true, at: now)
            bytes += Double(record)
            now += .seconds(bytes / rate) + .milliseconds(5)
            budget.acknowledged(at: now)
            return Double((now - began).nanoseconds) / 1e9
        }
    }

    @Test(arguments: [50_000.0, 0.2 * megabyte, megabyte, 20 * megabyte, 1000 * megabyte])
    func `no checkpoint takes long, not even the first, and after a few the budget is at its limit`(rate: Double) {
        var budget = CheckpointBudget(largest: 16 << 20)
        let took = Self.run(&budget, 20, rate: rate)
        #expect(took.allSatisfy { $0 < 6 }, "\(took)")
        let ideal = min(Double(16 << 20), max(64 * 1024, 2 * rate))
        #expect(abs(Double(budget.limit) - ideal) < ideal / 10)
    }

    @Test func `the budget follows a broker that becomes slow, and then fast again`() {
        var budget = CheckpointBudget(largest: 16 << 20)
        _ = Self.run(&budget, 10, rate: 100 * Self.megabyte)
        #expect(budget.limit == 16 << 20)
        // Eight times slower than the limit permits: the next budgets are smaller.
        let took = Self.run(&budget, 10, rate: 4 * Self.megabyte)
        #expect(took.first.map { $0 < 5 } == true && took.last.map { $0 < 2.5 } == true, "\(took)")
        _ = Self.run(&budget, 10, rate: 100 * Self.megabyte)
        #expect(budget.limit == 16 << 20)
    }

    @Test func `small checkpoints do not change the budget`() {
        var budget = CheckpointBudget(largest: 16 << 20)
        _ = Self.run(&budget, 10, rate: 100 * Self.megabyte)
        var now = ContinuousClock.now
        for _ in 0..<100 {
            budget.add(500, isOfCut: false, at: now)
            // The broker answers late, or the checkpoint waits for its time.
            budget.cut(at: now + .milliseconds(90))
            now += .milliseconds(120)
            budget.acknowledged(at: now)
        }
        #expect(budget.limit == 16 << 20)
    }

    @Test func `expected records count, until the cut`() {
        var budget = CheckpointBudget(largest: 16 << 20)
        #expect(budget.room(for: 100_000) == 2)
        budget.expect(200_000)
        #expect(!budget.isFull && budget.room(for: 100_000) == 1)
        budget.expect(100_000)
        #expect(budget.isFull && !budget.isOverfull && budget.room(for: 100_000) == 1)
        budget.cut(at: .now)
        #expect(budget.bytes == 0)
    }
}

/// Lanes with a slow broker: they finish the work without repeated restarts.
@Suite(.timeLimit(.minutes(10)))
struct SlowBrokerTests {
    /// - Parameter value: the size of the request's title.
    private static func request(_ name: String, value: Int, trigger: String = "") -> (key: [UInt8]?, value: [UInt8]?) {
        let title = String(repeating: "x", count: value)
        let json = #"{"requestId":"\#(name)"\#(trigger),"content":{"title":"\#(title)"}}"#
        return (key(name).encoded, Array(json.utf8))
    }

    /// Runs lanes, one after the other as the service does, until the condition holds.
    ///
    /// - Returns: how many lanes were needed; nil after a day.
    private static func lanes(
        on broker: MemoryBroker,
        _ guarantee: DeliveryGuarantee,
        until isDone: (MemoryBroker) -> Bool
    ) -> Int? {
        let end = broker.now + .seconds(86_400)
        var lanes = 0
        while broker.now < end, lanes < 20 {
            lanes += 1
            let link = MemoryLink(broker, transactionTimeout: guarantee == .exactlyOnce ? .seconds(10) : nil)
            let lane = Lane.over(link, guarantee)
            do {
                try lane.start()
                while broker.now < end {
                    if isDone(broker) {
                        lane.close()
                        return lanes
                    }
                    try lane.turn()
                }
            } catch {
                lane.close(after: error)
                broker.now += .seconds(1)
            }
        }
        return nil
    }

    private static func position(_ broker: MemoryBroker) -> Int64 {
        broker.committed[InputPartition(.requests, 0)] ?? 0
    }

    @Test(arguments: DeliveryGuarantee.allCases)
    func `300 waiting requests of 200 kB are delivered at 1 MB/s, by one lane`(guarantee: DeliveryGuarantee) {
        let broker = MemoryBroker(partitions: 1)
        broker.bytesPerSecond = 1_000_000
        broker.requests[0].records = (0..<300).map { Self.request("q\($0)", value: 200_000) }
        let lanes = Self.lanes(on: broker, guarantee) { Self.position($0) == 300 }
        #expect(lanes == 1)
        #expect(broker.deliveries.count == 300 && broker.timedOut == 0)
    }

    @Test(arguments: DeliveryGuarantee.allCases)
    func `300 scheduled requests count too, although they fill the changelog and not the events`(
        guarantee: DeliveryGuarantee
    ) {
        let broker = MemoryBroker(partitions: 1)
        broker.bytesPerSecond = 1_000_000
        let trigger = #","trigger":{"type":"timeInterval","timeInterval":864000}"#
        broker.requests[0].records = (0..<300).map { Self.request("q\($0)", value: 200_000, trigger: trigger) }
        let lanes = Self.lanes(on: broker, guarantee) { Self.position($0) == 300 }
        #expect(lanes == 1)
        #expect(broker.timedOut == 0)
    }

    @Test func `300 notifications due at one instant are sent in several transactions`() {
        let broker = MemoryBroker(partitions: 1)
        broker.bytesPerSecond = 1_000_000
        let trigger = #","trigger":{"type":"timeInterval","timeInterval":300}"#
        broker.requests[0].records = (0..<300).map { Self.request("q\($0)", value: 200_000, trigger: trigger) }
        let lanes = Self.lanes(on: broker, .exactlyOnce) { $0.deliveries.count == 600 }
        #expect(lanes == 1)
        #expect(broker.timedOut == 0)
    }

    @Test func `a broker of 50 kB/s causes no restart`() {
        let broker = MemoryBroker(partitions: 1)
        broker.bytesPerSecond = 50_000
        broker.requests[0].records = (0..<200).map { Self.request("q\($0)", value: 5_000) }
        let lanes = Self.lanes(on: broker, .exactlyOnce) { Self.position($0) == 200 }
        #expect(lanes == 1)
        #expect(broker.timedOut == 0)
    }

    @Test func `a revocation succeeds if there is time for the changes that would be lost, though not for all changes`()
        throws
    {
        let broker = MemoryBroker(partitions: 1)
        broker.requests[0].records = (0..<60_000).map { Self.request("q\($0)", value: 10) }
        let link = MemoryLink(broker, transactionTimeout: .seconds(10))
        let lane = Lane.over(link, .exactlyOnce)
        try lane.start()
        while Self.position(broker) < 60_000 { try lane.turn() }
        // Some 20 MB of entries that are not in the changelog, and time for a tenth of it.
        broker.bytesPerSecond = 300_000
        link.revoke(within: .seconds(7))
        #expect(lane.mustRestart == nil)
        // There is no open transaction for which the next owner would wait.
        #expect(lane.transactions?.isOpen != true && broker.timedOut == 0)
        lane.close()
    }
}
