import Foundation
import Testing
import TestSupport

/// Examples of the pages that need the services.
@Suite("The examples of the pages, with both services", .serialized)
struct PageExampleTests {
    private static let deployment = "pages"

    /// Provides both services with the rules of the demonstration.
    private func withServices(
        _ further: [String: String] = [:],
        _ body: (_ producer: ServiceProcess, _ consumer: ServiceProcess, Cluster) async throws -> Void
    ) async throws {
        try await CarillonCommand.withCluster { carillon in
            var settings = ServiceProcess.settings(carillon.cluster, deployment: Self.deployment)
            settings["CARILLON_RULES_FILE"] = Tools.package.appendingPathComponent("deploy/rules.yaml").path
            let producer = try ServiceProcess.producer(settings, deployment: Self.deployment)
            settings["CARILLON_RULES_FILE"] = nil
            settings.merge(further) { _, new in new }
            let consumer = try ServiceProcess.consumer(settings, deployment: Self.deployment)
            do {
                try await producer.ready()
                try await consumer.ready()
                try await body(producer, consumer, carillon.cluster)
            } catch {
                Issue.record(error, "\(producer.child.lastWords)\n\(consumer.child.lastWords)")
            }
            for service in [producer, consumer] { await service.child.end() }
        }
    }

    @Test("the way from the registration to the answer is as the page of devices shows it")
    func devices() async throws {
        let page = try Page("Sources/carillon/carillon.docc/Devices.md")
        let steps = try page.block("sh", containing: "send() {").components(separatedBy: "\n\n")
        try #require(steps.count == 6)
        let events = page.text.matches(of: /\n```json\n((?:.+\n)+)```\n/).map { String($0.1) }
        try #require(events.count == 2)
        try await withServices { producer, _, cluster in
            let deliveries = try KcatTopic(cluster, "deliveries")
            let responses = try KcatTopic(cluster, "responses")
            let shell = try ChildProcess("/bin/bash", keepsInput: true)
            let address = try await producer.http
            func run(_ step: Int) throws {
                try shell.write(steps[step].replacing("http://127.0.0.1:8080", with: address))
            }
            for step in 0...2 { try run(step) }
            _ = try await deliveries.records(1, "registered") { $0.name == "carillon.device.registered" }
            // The topics have no order: the categories are known when a notification has actions.
            var probes = 0
            try await eventually("the categories are known") {
                probes += 1
                let name = "probe-\(probes)"
                try shell.write(
                    "send PUT recipients/ana/notifications/\(name) '{\"content\":{\"title\":\"T\",\"categoryIdentifier\":\"ORDER\"}}'"
                )
                let found = try await deliveries.records(1, name) { $0["identifier"] == name && $0.name == "delivered" }
                return try found[0].object()["actions"] != nil
            }
            try run(3)
            let delivered = try await deliveries.records(1, "delivered") {
                $0.name == "delivered" && $0["identifier"] == "order-1001"
            }
            try expectEqual(delivered[0].object(), events[0])
            try run(4)
            _ = try await deliveries.records(1, "attempted") {
                $0.name == "device.attempted" && $0["outcome"] == "accepted"
            }
            try run(5)
            _ = try await deliveries.records(1, "presented") { $0.name == "device.presented" }
            let response = try await responses.records(1, "the reply") { $0["actionIdentifier"] == "reply" }
            try expectEqual(response[0].object(), events[1])
            let answer = try await deliveries.records(1, "the rule's answer") {
                $0.name == "delivered" && $0["identifier"] == "order-1001-answer"
            }
            let content = try answer[0].object()["content"] as? [String: Any]
            #expect(content?["title"] as? String == "We have your message")
            for process in [shell, deliveries.process, responses.process] { await process.end() }
        }
    }

    @Test("with deliveries.registrations: false no event has a token")
    func registrations() async throws {
        try await withServices(["CARILLON_DELIVERIES_REGISTRATIONS": "false"]) { producer, _, cluster in
            let deliveries = try KcatTopic(cluster, "deliveries")
            let url = "\(try await producer.http)/v1/recipients/ana"
            func call(_ method: String, _ path: String, _ body: String) async throws {
                let json = [("content-type", "application/json")]
                let answer = try await Curl.send(method, "\(url)/\(path)", headers: json, body: Data(body.utf8))
                #expect(answer.status == 202, "\(answer.text)")
            }
            try await call("PUT", "devices/phone", #"{"platform":"fcm","token":"c1:APA91b"}"#)
            _ = try await deliveries.records(1, "registered") { $0.name == "carillon.device.registered" }
            try await call("PUT", "notifications/a", #"{"content":{"title":"T"}}"#)
            let delivered = try await deliveries.records(1, "delivered") { $0.name == "delivered" }
            let devices = try delivered[0].object()["devices"] as? [[String: Any]]
            #expect(devices?.first.map { Set($0.keys) } == ["device", "outcome", "presentation"], "\(devices ?? [])")
            try await call("DELETE", "devices/phone", "")
            let retired = try await deliveries.records(1, "retired") { $0.name == "carillon.device.retired" }
            #expect(retired[0]["shows"] != nil && retired[0]["token"] == nil)
            #expect(!deliveries.records.contains { $0.payload?.contains("APA91b") == true })
            await deliveries.process.end()
        }
    }

    /// Compares an event with that of the page, but for the ids that are made.
    private func expectEqual(_ event: [String: Any], _ written: String) throws {
        var (event, expected) = (event, try #require(JSONText.object(Data(written.utf8)), "\(written)"))
        for id in ["requestId", "responseId"] where expected[id] != nil {
            #expect(event[id] is String)
            (event[id], expected[id]) = (nil, nil)
        }
        #expect(NSDictionary(dictionary: event) == NSDictionary(dictionary: expected), "\(event)")
    }
}
