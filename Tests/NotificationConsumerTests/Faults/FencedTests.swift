import Kafka
import NotificationModel
import ServiceSupport
import Testing

@testable import NotificationConsumer

/// How a lane behaves when another process may have its `instance.id`, and its warning about a guarantee without a fence.
struct FencedTests {
    @Test func `after a lane was fenced, the next one is ready only after its own commit`() throws {
        let broker = MemoryBroker(partitions: 2)
        for number in 0..<2 { broker.marker(in: Int32(number), of: 2) }
        let health = Health()
        func lane(fenced: String?) -> Lane<MemoryLink> {
            .over(MemoryLink(broker, transactionTimeout: .seconds(10)), .exactlyOnce, health: health, fenced: fenced)
        }
        // There is a marker and no work, so no commit.
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

    @Test func `error codes for fencing are distinguished`() {
        for code in [-144, 47, 82, 90] as [Int32] {
            let error = KafkaError(code: .init(rawValue: code), reason: "", isFatal: true)
            #expect(KafkaError.isFencing(error))
            #expect(KafkaError.isFencing(KafkaTransactionFailure(error: error, call: .commit, decision: .recreate)))
        }
        #expect(!KafkaError.isFencing(KafkaError(code: .timedOut, reason: "")))
        #expect(!KafkaError.isFencing(LaneEnd.suspended))
    }

    @Test func `a guarantee without a fence causes a warning, unless the broker is the embedded one`() {
        let warning = Cluster.warning(of: .atLeastOnce, isEmbedded: false)
        #expect(warning?.contains("nothing fences `state`") == true)
        #expect(Cluster.warning(of: .atLeastOnce, isEmbedded: true) == nil)
        #expect(Cluster.warning(of: .exactlyOnce, isEmbedded: false) == nil)
    }
}
