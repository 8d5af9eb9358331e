import Kafka
import NotificationModel
import ServiceSupport
import Testing

@testable import NotificationConsumer

/// What a lane says and does when another process may have its `instance.id`, and of a guarantee without a fence.
struct FencedTests {
    @Test func `after another one fenced it, a lane is ready only when it has committed something itself`() throws {
        let broker = MemoryBroker(partitions: 2)
        for number in 0..<2 { broker.marker(in: Int32(number), of: 2) }
        let health = Health()
        func lane(fenced: String?) -> Lane<MemoryLink> {
            .over(MemoryLink(broker, transactionTimeout: .seconds(10)), .exactlyOnce, health: health, fenced: fenced)
        }
        // A marker is there and nothing to do: no commit.
        let first = lane(fenced: nil)
        try first.start()
        for _ in 0..<5 { try first.turn() }
        #expect(health.notReady.isEmpty && first.commits == 0)
        first.close()

        let reason = "another process uses instance.id a"
        let second = lane(fenced: reason)
        try second.start()
        #expect(health.notReady.map(\.why).contains(reason))
        try second.turn()
        #expect(second.commits == 1 && broker.transactions == 1)
        second.close()
    }

    @Test func `codes that say so are told apart`() {
        for code in [-144, 47, 82, 90] as [Int32] {
            let error = KafkaError(code: .init(rawValue: code), reason: "", isFatal: true)
            #expect(KafkaError.isFencing(error))
            #expect(KafkaError.isFencing(KafkaTransactionFailure(error: error, call: .commit, decision: .recreate)))
        }
        #expect(!KafkaError.isFencing(KafkaError(code: .timedOut, reason: "")))
        #expect(!KafkaError.isFencing(LaneEnd.stoodStill))
    }

    @Test func `a guarantee without a fence is warned of, unless the broker is the embedded one`() {
        let warning = Cluster.warning(of: .atLeastOnce, isEmbedded: false)
        #expect(warning?.contains("nothing fences `state`") == true)
        #expect(Cluster.warning(of: .atLeastOnce, isEmbedded: true) == nil)
        #expect(Cluster.warning(of: .exactlyOnce, isEmbedded: false) == nil)
    }
}
