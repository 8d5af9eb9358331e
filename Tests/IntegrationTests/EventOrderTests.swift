import Foundation
import Testing

@Suite("The order of business events", .timeLimit(.minutes(10)))
struct EventOrderTests {
    private static let orders = 12

    @Test("a cancellation posted after its notification takes effect after it, without a subject, and also in a batch")
    func order() async throws {
        let cluster = try await Cluster.start()
        do {
            try await notifyAndCancel(cluster)
        } catch {
            try? await cluster.stop()
            throw error
        }
        try await cluster.stop()
    }

    private func notifyAndCancel(_ cluster: Cluster) async throws {
        let deployment = "order-\(UUID().uuidString.prefix(8).lowercased())"
        let settings = ServiceProcess.settings(cluster, deployment: deployment)
        let deliveries = try KcatTopic(cluster, "deliveries")
        let consumer = try ServiceProcess.consumer(settings, deployment: deployment)
        try await consumer.ready()
        // It has no rules: all events are on their topic before anybody reads it, so every overtaking that can be is seen.
        let door = ServiceProcess(
            try ChildProcess(
                try Tools.product("carillon-producer"),
                environment: settings.merging(["CARILLON_HTTP_PORT": "0"]) { $1 }
            )
        )
        let address = try await door.http
        for number in 1...Self.orders {
            for (type, id) in [("later", "n\(number)"), ("cancelled", "c\(number)")] {
                let answer = try await Curl.send(
                    "POST",
                    "\(address)/v1/events",
                    headers: [
                        ("content-type", "application/json"), ("ce-specversion", "1.0"), ("ce-source", "/shop"),
                        ("ce-type", "com.example.test.\(type)"), ("ce-id", id),
                    ],
                    body: Data(Self.data(number).utf8)
                )
                #expect(answer.status == 202, "\(answer.text)")
            }
        }
        let batch = (Self.orders + 1...2 * Self.orders).flatMap { number in
            [("later", "n\(number)"), ("cancelled", "c\(number)")].map { type, id in
                #"{"specversion":"1.0","id":"\#(id)","source":"/shop","type":"com.example.test.\#(type)","data":\#(Self.data(number))}"#
            }
        }
        let answer = try await Curl.send(
            "POST",
            "\(address)/v1/events",
            headers: [("content-type", "application/cloudevents-batch+json")],
            body: Data("[\(batch.joined(separator: ","))]".utf8)
        )
        #expect(answer.status == 202, "\(answer.text)")

        let producer = try ServiceProcess.producer(settings, deployment: deployment)
        let answers = try await deliveries.records(2 * Self.orders, "answers to cancels") {
            $0.name == "cancelled" || $0.name == "cancellation.missed"
        }
        let missed = answers.filter { $0.name != "cancelled" }.compactMap { $0["identifier"] }
        #expect(missed == [], "these cancels overtook their notifications\n\(producer.child.lastWords)")
        for service in [producer, door, consumer] { await service.child.end() }
    }

    private static func data(_ number: Int) -> String {
        #"{"recipient":"user-\#(number)","identifier":"order-\#(number)","title":"Order"}"#
    }
}
