import NotificationModel
import ServiceSupport
import Testing

@testable import NotificationConsumer

/// A lane that ends while sends are under way.
struct DrainTests {
    /// Keeps what it was asked, and answers when the test does.
    private final class SlowChannel: Channel {
        let name = "slow"
        private(set) var sends: [ChannelSend] = []
        private var outcomes: [ChannelOutcome] = []

        func begin(_ send: ChannelSend) { sends.append(send) }

        func accept() {
            outcomes += sends.map { ChannelOutcome(send: $0, result: .accepted) }
            sends = []
        }

        func takeOutcomes() -> [ChannelOutcome] {
            defer { outcomes = [] }
            return outcomes
        }
    }

    /// What a lane does, in order.
    private final class Steps {
        var all: [CheckpointStep] = []
    }

    @Test func `exactly once, what a channel answers during a checkpoint is committed with the next one`() throws {
        let broker = MemoryBroker(partitions: 1)
        broker.marker(in: 0, of: 1)
        broker.bytesPerSecond = 1000
        let (channel, steps) = (SlowChannel(), Steps())
        let link = FaultyLink(MemoryLink(broker, transactionTimeout: .seconds(10))) { steps.all.append($0) }
        let lane = Lane.over(link, .exactlyOnce, channel: channel)
        try lane.start()
        try lane.turn()
        let value = Array(#"{"requestId":"q","content":{"title":"T"}}"#.utf8)
        broker.requests[0].records.append((key("order").encoded, value))
        for _ in 0..<100 where channel.sends.isEmpty || lane.ledger.checkpoint.allowsWork { try lane.turn() }
        #expect(channel.sends.count == 1 && steps.all == [.entry, .marker])
        channel.accept()
        lane.drain()
        // The first entry says that the send is under way, the second that it is over.
        let one = [.entry, .marker, .offsets, .commit] as [CheckpointStep]
        #expect(steps.all == one + [.event] + one)
        lane.close()
    }
}
