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

/// `kill -9`, again and again, wherever the service is just then.
@Suite("A consumer service that is killed", .serialized)
struct KilledConsumerTests {
    @Test(
        "killed 20 times under load: nothing is lost, repeats have the same ce_id, and only the marker determines where to resume"
    )
    func twentyTimes() async throws {
        let cluster = try Cluster.inProcess()
        let clients = RequestClients(cluster)
        let state = try ByteTopics(cluster, "state")
        let requests = cluster.topic("requests")
        var consumer: ServiceProcess?
        do {
            try await clients.publish(.init(name: "far", count: 100, due: .seconds(14 * 86_400)))
            try await clients.publish(.init(name: "near", count: 100, due: .seconds(30)))
            try clients.beginLoad()
            for number in 0..<20 {
                let next = try start(cluster, number)
                consumer = next
                switch number % 4 {
                case 0:
                    // While it works: its checkpoints continue after those of the previous process.
                    let before = Self.positions(state, of: requests)
                    try await eventually("it makes progress", orSay: { next.child.lastWords }) {
                        !next.child.isRunning || Self.positions(state, of: requests) >= before + 20
                    }
                case 1:
                    // While it restores, or right after it.
                    try await eventually("it restores", orSay: { next.child.lastWords }) {
                        !next.child.isRunning || next.child.errorText.contains("\"restored\"")
                    }
                default:
                    // While it begins, or joins.
                    try await Task.sleep(for: .milliseconds(200 + 80 * number))
                }
                #expect(next.child.isRunning, "\(next.child.lastWords)")
                next.child.signal(SIGKILL)
                #expect(try await next.child.ended() == -SIGKILL)
            }
            // At least so many requests are below the markers that the last one finds.
            let done = Self.positions(state, of: requests)
            #expect(done > 0)
            let last = try start(cluster, 20)
            consumer = last
            try await last.ready()
            try await clients.endLoad()
            let account = try await clients.account(open: 100)
            #expect(account.closed == clients.accepted.count - 100, "\(account)")
            try await eventually("the far ones are pending") {
                try await last.metrics.contains("\ncarillon_schedule_pending 100")
            }
            // Each process had its own group without an offset: reading from the beginning would have read these too.
            let read = try await last.metrics.split(separator: "\n").filter { $0.hasPrefix("carillon_requests_total{") }
                .compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }.reduce(0, +)
            try await eventually("it reads on from the markers") { Self.positions(state, of: requests) - done >= read }
            #expect(last.child.errorText.contains("\"restored\""))
        } catch {
            Issue.record(error, "\(consumer?.child.lastWords ?? "")")
        }
        await consumer?.child.end()
        await clients.end()
        await state.process.end()
        try await cluster.stop()
    }

    /// How many requests are below the last markers, which have the offsets of the other inputs, too.
    private static func positions(_ state: ByteTopics, of requests: String) -> Int {
        state.markers.values.reduce(0) { $0 + ($1[requests] ?? 0) }
    }

    /// In a new group: the embedded broker admits a first member immediately, but not one that follows a killed member.
    private func start(_ cluster: Cluster, _ number: Int) throws -> ServiceProcess {
        var settings = ServiceProcess.settings(cluster, deployment: "killed")
        settings["CARILLON_CONSUMER_START"] = "earliest"
        return try ServiceProcess.consumer(settings, deployment: "killed-\(number)")
    }

    @Test("earlier requests are read without a setting, SIGHUP changes nothing, and the service shuts down properly")
    func requestsFirst() async throws {
        let cluster = try Cluster.inProcess()
        let clients = RequestClients(cluster)
        try await clients.publish(.init(name: "first", count: 50))
        let consumer = try ServiceProcess.consumer(
            ServiceProcess.settings(cluster, deployment: "first"),
            deployment: "first"
        )
        do {
            try await consumer.ready()
            try await eventually("they are delivered", orSay: { consumer.child.lastWords }) {
                try await consumer.metrics.contains("carillon_notification_events_total{name=\"delivered\"} 50")
            }
            consumer.child.signal(SIGHUP)
            try await eventually("it says what SIGHUP does", orSay: { consumer.child.lastWords }) {
                consumer.child.errorText.contains("SIGHUP reloads nothing")
            }
            #expect(try await consumer.health("live").status == 200)
            consumer.child.signal(SIGTERM)
            #expect(try await consumer.child.ended() == 0, "\(consumer.child.lastWords)")
        } catch {
            Issue.record(error, "\(consumer.child.lastWords)")
        }
        await consumer.child.end()
        await clients.end()
        try await cluster.stop()
    }

    // MARK: - Refusals

    @Test("a changelog that it cannot use ends the process with a status and a text with the remedy")
    func refusals() async throws {
        let cluster = try Cluster.inProcess()
        let entry = TestRecord(
            topic: cluster.topic("state"),
            key: "shop/ana/order",
            value: Data(#"{"form":99}"#.utf8),
            recipient: "ana"
        )
        _ = try await PythonProducer.send([entry.line], to: cluster)
        try await expectRefusal(cluster, ["the entry has form 99", "upgrade before you start", cluster.topic("state")])

        // More than the embedded broker keeps.
        let large = Data("x".utf8) + Data(repeating: 0x61, count: 700_000)
        _ = try await PythonProducer.send(
            (0..<8).map {
                TestRecord(topic: cluster.topic("state"), key: "shop/ana/\($0)", value: large, recipient: "ana").line
            },
            to: cluster
        )
        try await expectRefusal(
            cluster,
            [cluster.topic("state"), "part of the changelog was thrown away", "set `consumer.on-gap` to `continue`"]
        )
        try await cluster.stop()
    }

    private func expectRefusal(_ cluster: Cluster, _ texts: [String]) async throws {
        let service = try ServiceProcess.consumer(
            ServiceProcess.settings(cluster, deployment: "refusal"),
            deployment: "refusal-\(UUID().uuidString)"
        )
        #expect(try await service.child.ended() == 1)
        for text in texts { #expect(service.child.errorText.contains(text), "\(service.child.lastWords)") }
    }
}
