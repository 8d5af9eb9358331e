import Foundation
import TestSupport
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A broker that is unavailable, or does not answer. The test needs its own broker.
@Suite("A broker that is away", .serialized, .disabled(if: Cluster.isReal, "the cluster is not ours to stop"))
struct BrokerAwayTests {
    @Test(
        "services start without the broker, live and not ready with the reason; they work when it is available; they wait when it hangs"
    )
    func away() async throws {
        // Reserves the port for the services' setting; the broker's port is known only when it runs.
        let door = try ChildProcess(try Tools.python(), [Tools.client("forward.py")], keepsInput: true)
        try await eventually("a port is held", orSay: { door.lastWords }) { !door.outputLines.isEmpty }
        let address = "127.0.0.1:\(try #require(door.outputLines.first))"

        var settings = [
            "CARILLON_KAFKA_BOOTSTRAP_SERVERS": address,
            "CARILLON_KAFKA_PROPERTIES": "fetch.wait.max.ms=10,session.timeout.ms=6000,heartbeat.interval.ms=500",
            "CARILLON_OPS_PORT": "0", "CARILLON_LOG_FORMAT": "json",
        ]
        let consumer = try ServiceProcess.consumer(settings, deployment: "away")
        settings["CARILLON_HTTP_DEADLINE"] = "1s"
        let producer = try ServiceProcess.producer(settings, deployment: "away")
        var cluster: Cluster?
        do {
            let url = "\(try await producer.http)/v1/recipients/ana/notifications/hello"
            func put() async throws -> HTTPAnswer {
                try await Curl.send(
                    "PUT",
                    url,
                    headers: [("content-type", "application/json")],
                    body: Data(#"{"content":{"title":"Hello"}}"#.utf8)
                )
            }
            for service in [producer, consumer] {
                try await notReady(service, mentions: "broker")
                #expect(try await service.health("live").status == 200)
            }
            // It is answered, and not kept waiting for ever.
            let refused = try await put()
            #expect(refused.status == 503, "\(refused.text)")
            #expect(refused["reason"] == "unavailable")

            let started = try await Cluster.embedded()
            cluster = started
            try door.write(started.bootstrapServers)
            for service in [producer, consumer] { try await service.ready() }
            let deliveries = try KcatTopic(started, "deliveries")
            func delivered(_ answer: HTTPAnswer) async throws {
                #expect(answer.status == 202, "\(answer.text)")
                let id = try #require(answer["requestId"])
                _ = try await deliveries.records(1, "delivered of \(id)") {
                    $0.name == "delivered" && $0["requestId"] == id
                }
            }
            try await delivered(try await put())

            // Lost while running: it holds its connections and answers nothing.
            let broker = try #require(started.broker)
            broker.signal(SIGSTOP)
            try await notReady(producer, mentions: "broker")
            // It has lost its membership in the group, and reports that.
            try await notReady(consumer)
            #expect(try await put().status == 503)
            for service in [producer, consumer] { #expect(try await service.health("live").status == 200) }
            broker.signal(SIGCONT)
            for service in [producer, consumer] { try await service.ready() }
            var answer = try await put()
            try await eventually("a call is accepted again", orSay: { answer.text }) {
                answer = try await put()
                return answer.status == 202
            }
            try await delivered(answer)
            await deliveries.process.end()
            for service in [producer, consumer] {
                service.child.signal(SIGTERM)
                #expect(try await service.child.ended() == 0, "\(service.child.lastWords)")
            }
        } catch {
            Issue.record(error, "\(producer.child.lastWords)\n\(consumer.child.lastWords)")
        }
        await producer.child.end()
        await consumer.child.end()
        try await cluster?.stop()
        await door.end()
    }

    @Test("SIGTERM ends services that wait for their broker", arguments: ["carillon-producer", "carillon-consumer"])
    func endWhileWaiting(_ name: String) async throws {
        let settings = [
            "CARILLON_KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1", "CARILLON_OPS_PORT": "0", "CARILLON_LOG_FORMAT": "json",
        ]
        let service =
            name == "carillon-producer"
            ? try ServiceProcess.producer(settings, deployment: "end")
            : try ServiceProcess.consumer(settings, deployment: "end")
        try await notReady(service, mentions: "broker")
        service.child.signal(SIGTERM)
        #expect(try await service.child.ended() == 0, "\(service.child.lastWords)")
    }

    /// It reports that it is not ready, with a reason that contains a word.
    private func notReady(_ service: ServiceProcess, mentions word: String? = nil) async throws {
        var last = ""
        try await eventually(
            "\(service.child.name) is not ready because of \(word ?? "something")",
            orSay: { "\(last)\n\(service.child.lastWords)" }
        ) {
            let answer = try await service.health("ready")
            last = answer.text
            return answer.status == 503 && answer.text.contains("\"why\":\"") && answer.text.contains(word ?? "why")
        }
    }
}
