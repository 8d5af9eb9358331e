import NotificationDelivery
import NotificationModel
import NotificationState
import ServiceSupport
import Testing

@testable import NotificationConsumer

/// A lane that ends while sends are in progress.
struct DrainTests {
    /// The actions of a lane, in order.
    private final class Steps {
        var all: [CheckpointStep] = []
    }

    @Test(arguments: [true, false])
    func `a channel that does not answer leaves time to commit the completed work`(isExactlyOnce: Bool) throws {
        let broker = MemoryBroker(partitions: 1)
        broker.marker(in: 0, of: 1)
        let channel = HeldChannel()
        let link = MemoryLink(broker, transactionTimeout: isExactlyOnce ? .seconds(10) : nil)
        let lane = Lane.over(link, isExactlyOnce ? .exactlyOnce : .atLeastOnce, channel: channel)
        try lane.start()
        try lane.turn()
        let value = Array(#"{"requestId":"q","content":{"title":"T"}}"#.utf8)
        broker.requests[0].records.append((key("order").encoded, value))
        for _ in 0..<100 where channel.sends.isEmpty { try lane.turn() }
        let commits = lane.commits
        lane.drain()
        #expect(
            lane.commits > commits && broker.committed[InputPartition(.requests, 0)] == 1 && channel.sends.count == 1
        )
        lane.close()
        #expect(channel.cancelled == 1)
    }

    @Test(arguments: [true, false])
    func `while one send has no answer the answers of others are committed`(isExactlyOnce: Bool) throws {
        let broker = MemoryBroker(partitions: 1)
        broker.marker(in: 0, of: 1)
        let channel = HeldChannel()
        let link = MemoryLink(broker, transactionTimeout: isExactlyOnce ? .seconds(10) : nil)
        let lane = Lane.over(link, isExactlyOnce ? .exactlyOnce : .atLeastOnce, channel: channel)
        try lane.start()
        try lane.turn()
        for name in ["order", "offer"] {
            let value = Array(#"{"requestId":"\#(name)","content":{"title":"T"}}"#.utf8)
            broker.requests[0].records.append((key(name).encoded, value))
        }
        for _ in 0..<200 where channel.sends.count < 2 || lane.ledger.checkpoint.isUnderWay { try lane.turn() }
        let (commits, events) = (lane.commits, broker.deliveries.count)
        var (isAnswered, isCommitted) = (false, false)
        link.whileWaiting = {
            // The other one is never answered.
            if !isAnswered { channel.replies[0](.accepted) }
            isAnswered = true
            isCommitted = lane.commits > commits && broker.deliveries.count == events + 1
        }
        lane.drain()
        #expect(isCommitted)
        lane.close()
        #expect(channel.cancelled == 1)
    }

    @Test func `exactly once, outcomes during a checkpoint are committed with the next one`() throws {
        let broker = MemoryBroker(partitions: 1)
        broker.marker(in: 0, of: 1)
        broker.bytesPerSecond = 1000
        let (channel, steps) = (HeldChannel(), Steps())
        let link = FaultyLink(MemoryLink(broker, transactionTimeout: .seconds(10))) { steps.all.append($0) }
        let lane = Lane.over(link, .exactlyOnce, channel: channel)
        try lane.start()
        try lane.turn()
        let value = Array(#"{"requestId":"q","content":{"title":"T"}}"#.utf8)
        broker.requests[0].records.append((key("order").encoded, value))
        for _ in 0..<5000 where channel.sends.isEmpty || lane.ledger.checkpoint.allowsWork { try lane.turn() }
        let one = [.entry, .marker, .offsets, .commit] as [CheckpointStep]
        #expect(channel.sends.count == 1 && steps.all == one + [.entry, .marker])
        channel.accept()
        lane.drain()
        // The first entry permits the send, the second records its start, the third its end.
        #expect(steps.all == one + one + [.event] + one)
        lane.close()
    }
}
