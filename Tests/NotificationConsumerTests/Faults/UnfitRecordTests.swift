import LocalBroker
import NotificationModel
import ServiceSupport
import Testing

@testable import NotificationConsumer

/// Records of a changelog that a start refuses.
@Suite(.timeLimit(.minutes(10)))
struct UnfitRecordTests {
    /// A record of `state` that prevents the start.
    struct Unfit: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var key: String
        var value: String
        /// The text of the refusal.
        var says: [String]
    }

    @Test(
        "With a record in `state` that it cannot read it refuses, says where and what to do, and writes nothing",
        arguments: [
            Unfit(
                testDescription: "an entry of a newer form",
                key: "shop/ana/order",
                value: #"{"form":99,"pending":"otherwise"}"#,
                says: ["the entry has form 99", "upgrade before you start"]
            ),
            Unfit(
                testDescription: "a marker of a newer form",
                key: "marker",
                value: #"{"form":99,"offsets":[]}"#,
                says: ["the marker has form 99", "upgrade before you start"]
            ),
            Unfit(
                testDescription: "a key that is none",
                key: "somebody else's",
                value: #"{"form":1}"#,
                says: [
                    "is not a valid changelog record",
                    "carillon state remove 2:2 --topic carillon.state --bootstrap-servers",
                ]
            ),
            Unfit(
                testDescription: "a value that is none",
                key: "shop/ana/order",
                value: "somebody else's",
                says: [
                    "is not a valid changelog record",
                    "carillon state remove 2:2 --topic carillon.state --bootstrap-servers",
                ]
            ),
            Unfit(
                testDescription: "a marker that says nothing",
                key: "marker",
                value: "{}",
                says: ["is not a valid changelog record"]
            ),
        ]
    )
    func unfit(_ record: Unfit) async throws {
        let kafka = try FaultBroker()
        try await kafka.publish([
            kafka.marker(in: 2), kafka.entry(1, in: 2),
            .init(
                topic: kafka.topics.state,
                partition: 2,
                key: Array(record.key.utf8),
                value: Array(record.value.utf8)
            ),
            kafka.request("a"),
        ])
        var configuration = kafka.configuration
        configuration.lane.start = .earliest
        let before = try await kafka.written()
        let consumer = try RunningConsumer(configuration)
        let refusal = try await consumer.refusal()
        let why = try #require(consumer.health.notReady.first?.why)
        for text in record.says + [kafka.topics.state, "partition 2", "offset 2"] {
            #expect(refusal.description.contains(text), "\(refusal)")
            #expect(why.contains(text), "readiness says it too: \(why)")
        }
        #expect(try await kafka.written() == before)
        await kafka.broker.shutDown()
    }
}
