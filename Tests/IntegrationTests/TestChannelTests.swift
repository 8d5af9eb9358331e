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

/// The consumer service with the test channel.
@Suite("A consumer service with the channel test", .serialized)
struct TestChannelTests {
    @Test("requests are delivered by the channel or rejected by it, and a kill with sends under way loses nothing")
    func deliveredOrRejected() async throws {
        let cluster = try Cluster.inProcess()
        let clients = RequestClients(cluster)
        let deliveries = try KcatTopic(cluster, "deliveries")
        var consumer: ServiceProcess?
        do {
            let first = try start(cluster, 0)
            consumer = first
            try await first.ready()
            try clients.beginLoad()
            try await eventually("some are delivered, and some are under way", orSay: { first.child.lastWords }) {
                guard deliveries.records.filter({ $0.name == "delivered" }).count > 50 else { return false }
                return try await !first.metrics.contains("\ncarillon_outstanding_sends 0")
            }
            first.child.signal(SIGKILL)
            #expect(try await first.child.ended() == -SIGKILL)
            let last = try start(cluster, 1)
            consumer = last
            try await last.ready()
            try await clients.load(reaches: 200)
            try await clients.endLoad()
            let account = try await clients.account(open: 0)
            #expect(account.closed == clients.accepted.count, "\(account)")
            let accepted = Set(clients.accepted)
            var ended: [String: String] = [:]
            for record in deliveries.records {
                guard let id = record["requestId"], accepted.contains(id) else { continue }
                switch record.name {
                case "delivered": #expect(record["channel"] == "test", "\(record.payload ?? "")")
                case "failed": #expect(record["reason"] == "rejected", "\(record.payload ?? "")")
                default: Issue.record("\(record.payload ?? "")")
                }
                // A rejected send is rejected again, so a repeat after the kill has the same result.
                #expect(ended.updateValue(record.name, forKey: id) ?? record.name == record.name, "\(id)")
            }
            #expect(ended.count == accepted.count)
            #expect(Set(ended.values) == ["delivered", "failed"])
            // What was refused in doubt is recalled after its closing event.
            try await eventually("no recall is under way") {
                try await last.metrics.contains("\ncarillon_outstanding_sends 0")
            }
            let metrics = try await last.metrics
            #expect(metrics.contains(/\ncarillon_sends_timed_out_total [1-9]/), "attempts were tried again")
            last.child.signal(SIGTERM)
            #expect(try await last.child.ended() == 0, "\(last.child.lastWords)")
        } catch {
            Issue.record(error, "\(consumer?.child.lastWords ?? "")")
        }
        await consumer?.child.end()
        await clients.end()
        await deliveries.process.end()
        try await cluster.stop()
    }

    /// In a new group: the embedded broker admits a first member immediately.
    private func start(_ cluster: Cluster, _ number: Int) throws -> ServiceProcess {
        var settings = ServiceProcess.settings(cluster, deployment: "channel")
        settings["CARILLON_CONSUMER_START"] = "earliest"
        settings["CARILLON_CHANNEL"] = "test"
        settings["CARILLON_TEST_CHANNEL_LATENCY"] = "100ms"
        settings["CARILLON_TEST_CHANNEL_REJECTIONS"] = "200"
        settings["CARILLON_TEST_CHANNEL_TIMEOUTS"] = "100"
        settings["CARILLON_CONSUMER_SEND_TIMEOUT"] = "500ms"
        settings["CARILLON_CONSUMER_CONCURRENT_SENDS"] = "20"
        return try ServiceProcess.consumer(settings, deployment: "channel-\(number)")
    }
}
