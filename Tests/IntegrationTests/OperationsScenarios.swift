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

/// The view of operators, and the end of processes.
extension ServiceScenarios {
    @Test("every published record has its key, partition, headers and schema, as an independent reader checks")
    func everyRecord() async throws {
        let stack = try Stack.shared()
        let recipient = stack.recipient("ü/% ")
        // Records of every kind, independent of earlier tests.
        _ = try await stack.send(
            TestEvent(type: "now", recipient: recipient, identifier: "/"),
            TestEvent(type: "later", recipient: recipient, identifier: "%"),
            TestEvent(type: "cancelled", recipient: recipient, identifier: "%"),
            TestEvent(type: "cancelled", recipient: recipient, identifier: "none")
        )
        _ = try await stack.event("delivered", recipient, "/")
        _ = try await stack.event("cancelled", recipient, "%")
        _ = try await stack.event("cancellation.missed", recipient, "none")
        let verified = try await ChildProcess.run(
            try Tools.python(),
            [
                Tools.client("verify.py"), "--bootstrap", stack.cluster.bootstrapServers, "--prefix",
                stack.cluster.prefix,
                "--source", "/carillon/\(stack.deployment)",
                "--schemas", Tools.package.appendingPathComponent("Sources/NotificationModel/Schemas").path,
                stack.requests.process.outputPath, stack.deliveries.process.outputPath,
            ]
        )
        let counts = try #require(JSONText.object(verified.standardOutput))
        #expect(counts["requests"] as? Int ?? 0 >= 4)
        #expect(counts["deliveries"] as? Int ?? 0 >= 4)
    }

    @Test("the metrics named by the page of bounds exist")
    func boundsInMetrics() async throws {
        let stack = try Stack.shared()
        let pages = try await stack.producer.metrics + stack.consumer.metrics
        for row in try BoundsTable().rows {
            // `WebhookTests` has a service with that channel.
            // Those of channels to devices, of the webhook and of enrichment have tests of their own.
            let elsewhere = ["apns.", "fcm.", "webpush.", "webhook.", "enrichment.", "media.", "egress."]
            let isElsewhere = elsewhere.contains { row.key.hasPrefix($0) }
            guard let metric = row.metric, !isElsewhere else { continue }
            #expect(pages.contains("\n# TYPE \(metric) "), "\(row.key): \(metric) is on neither page")
        }
    }

    @Test("promtool finds nothing wrong with the live metrics of both services")
    func metrics() async throws {
        let stack = try Stack.shared()
        let recipient = stack.recipient()
        try await stack.put(recipient, "order")
        _ = try await stack.event("delivered", recipient, "order")
        for (service, expected) in [
            (
                stack.producer,
                [
                    "carillon_requests_published_total",
                    #"carillon_http_request_duration_seconds_count{method="PUT",route="/v1/recipients/{recipient}/notifications/{identifier}"}"#,
                    #"carillon_consumer_rebalances_total{event="assigned"}"#,
                    #"carillon_ready{component="http"} 1"#,
                    "carillon_ingest_commit_success_timestamp_seconds ",
                ]
            ),
            (
                stack.consumer,
                [
                    "carillon_notification_events_total",
                    #"carillon_delivery_latency_seconds_bucket{channel="events",le="60"}"#,
                    #"carillon_checkpoint_success_timestamp_seconds{lane="0"}"#,
                    #"carillon_consumer_rebalances_total{event="assigned"}"#,
                    "carillon_lane_restarts_total ", #"carillon_ready{component="lane-0"} 1"#,
                ]
            ),
        ] {
            let page = try await service.metrics
            // `process_` are the names that every Prometheus client has.
            let samples = page.split(separator: "\n").filter { !$0.hasPrefix("#") }
            #expect(samples.allSatisfy { $0.hasPrefix("carillon_") || $0.hasPrefix("process_") }, "\(page)")
            for line in page.split(separator: "\n") where line.hasPrefix("# HELP ") {
                #expect(!line.hasSuffix(" (not described)"), "\(line)")
            }
            for metric in expected { #expect(page.contains("\n\(metric)"), "\(metric) is not in\n\(page)") }
            // A series that no reason of this service can count is noise.
            let reasons = page.split(separator: "\n").filter { $0.hasPrefix("carillon_dead_letters_total{") }
            #expect(reasons.count < 12, "\(reasons)")
            let checked = try ChildProcess(
                try Tools.program("promtool"),
                ["check", "metrics"],
                input: Data(page.utf8)
            )
            let status = try await checked.ended()
            #expect(status == 0 && checked.errorText.isEmpty, "\(checked.outputText)\(checked.errorText)")
        }
    }

    @Test("a service that works is live and ready")
    func health() async throws {
        let stack = try Stack.shared()
        for service in [stack.producer, stack.consumer] {
            for kind in ["live", "ready"] {
                let answer = try await service.health(kind)
                #expect(answer.status == 200, "\(service.child.name), \(kind): \(answer.text)")
            }
        }
    }

    @Test("carillon tail --json prints the published records, and ends after a number of records")
    func tail() async throws {
        let stack = try Stack.shared()
        let recipient = stack.recipient()
        try await stack.put(recipient, "order")
        let delivered = try await stack.event("delivered", recipient, "order")
        let tail = try ChildProcess(
            try Tools.product("carillon"),
            [
                "tail", "deliveries", "--json", "--from", "beginning", "--bootstrap-servers",
                stack.cluster.bootstrapServers,
            ],
            environment: ["CARILLON_TOPICS_PREFIX": stack.cluster.prefix]
        )
        var line: Data?
        try await eventually("tail prints the event", orSay: { tail.lastWords }) {
            line = tail.outputLines.map { Data($0.utf8) }.first {
                JSONText.member("value.recipient", of: $0) == recipient
            }
            return line != nil
        }
        let printed = try #require(line)
        #expect(JSONText.member("topic", of: printed) == delivered.topic)
        #expect(JSONText.member("partition", of: printed) == "\(delivered.partition)")
        #expect(JSONText.member("offset", of: printed) == "\(delivered.offset)")
        #expect(JSONText.member("key", of: printed) == delivered.key)
        #expect(JSONText.member("headers.ce_id", of: printed) == delivered.headers["ce_id"])
        #expect(JSONText.member("value.requestId", of: printed) == delivered["requestId"])
        tail.signal(SIGTERM)
        #expect(try await tail.ended() == 0)

        let counted = try await ChildProcess.run(
            try Tools.product("carillon"),
            ["tail", "deliveries", "--json", "--from", "beginning", "--count", "1"],
            environment: [
                "CARILLON_TOPICS_PREFIX": stack.cluster.prefix,
                "CARILLON_KAFKA_BOOTSTRAP_SERVERS": stack.cluster.bootstrapServers,
            ]
        )
        #expect(counted.outputLines.count == 1)
    }

    // MARK: Ends and restarts

    private func load(_ stack: Stack, _ recipients: String, immediate: Bool = false) throws -> ChildProcess {
        var arguments = [
            Tools.client("load.py"), "--bootstrap", stack.cluster.bootstrapServers, "--http", stack.addressFile,
            "--business-events", stack.cluster.topic("business-events"), "--recipients", recipients,
        ]
        if immediate { arguments.append("--immediate") }
        return try ChildProcess(try Tools.python(), arguments)
    }

    /// Waits until so many more were accepted, of both kinds.
    private func progress(of load: ChildProcess, by more: Int) async throws {
        func reached() throws -> (Int, Int) {
            guard load.isRunning else { throw ChildProcess.Failure(description: load.lastWords) }
            guard let line = load.outputLines.last, let object = JSONText.object(Data(line.utf8)) else { return (0, 0) }
            return (object["accepted"] as? Int ?? 0, object["sent"] as? Int ?? 0)
        }
        let start = try reached()
        try await eventually("\(more) more PUTs and events are accepted", orSay: { load.lastWords }) {
            let now = try reached()
            return now.0 >= start.0 + more && now.1 >= start.1 + more
        }
    }

    /// Ends the load and compares the requests with the events.
    private func settle(_ load: ChildProcess, _ recipients: String, in stack: Stack) async throws -> [String: Any] {
        load.signal(SIGTERM)
        #expect(try await load.ended() == 0, "\(load.lastWords)")
        let result = try #require(load.outputLines.last)
        let settled = try ChildProcess(
            try Tools.python(),
            [
                Tools.client("settle.py"), "--bootstrap", stack.cluster.bootstrapServers, "--prefix",
                stack.cluster.prefix,
                "--recipients", recipients,
            ],
            input: Data(result.utf8)
        )
        let status = try await settled.ended(within: .seconds(180))
        #expect(
            status == 0,
            "\(settled.outputText)\(settled.errorText)\n\(stack.producer.child.lastWords)\n\(stack.consumer.child.lastWords)"
        )
        return try #require(JSONText.object(settled.standardOutput))
    }

    @Test("SIGTERM ends the consumer service under load with status 0, and every request has its event")
    func terminateConsumer() async throws {
        let stack = try Stack.shared()
        let recipients = stack.recipient("sigterm")
        let load = try load(stack, recipients)
        try await progress(of: load, by: 100)
        stack.consumer.child.signal(SIGTERM)
        #expect(try await stack.consumer.child.ended() == 0, "\(stack.consumer.child.lastWords)")
        try await progress(of: load, by: 100)
        try await stack.restartConsumer()
        try await progress(of: load, by: 100)
        let numbers = try await settle(load, recipients, in: stack)
        #expect(numbers["accepted"] as? Int ?? 0 >= 300)
        #expect(numbers["repeatedEvents"] as? Int == 0, "an orderly end leaves nothing to repeat: \(numbers)")
    }

    @Test("SIGTERM ends the producer service under load with status 0, and no accepted call is lost")
    func terminateProducer() async throws {
        let stack = try Stack.shared()
        let recipients = stack.recipient("producer")
        let load = try load(stack, recipients)
        try await progress(of: load, by: 100)
        stack.producer.child.signal(SIGTERM)
        #expect(try await stack.producer.child.ended() == 0, "\(stack.producer.child.lastWords)")
        try await stack.restartProducer()
        try await progress(of: load, by: 100)
        let numbers = try await settle(load, recipients, in: stack)
        #expect(numbers["accepted"] as? Int ?? 0 >= 200)
    }

    @Test(
        "a killed consumer service resumes from its markers: no request without an event, repeats under the same ce_id"
    )
    func killConsumer() async throws {
        let stack = try Stack.shared()
        let recipients = stack.recipient("kill")
        let load = try load(stack, recipients, immediate: true)
        // Every partition with records has a marker before the restart.
        try await eventually("every partition has a marker", orSay: { stack.consumer.child.lastWords }) {
            let used = Set(stack.requests.records.map(\.partition))
            return used.isSubset(of: stack.state.markers.keys) && !used.isEmpty
        }
        try await progress(of: load, by: 200)
        stack.consumer.child.signal(SIGKILL)
        #expect(try await stack.consumer.child.ended() == -SIGKILL)
        try await progress(of: load, by: 50)
        try await stack.restartConsumer()
        #expect(stack.consumer.child.errorText.contains("\"restored\""))
        try await progress(of: load, by: 50)
        let numbers = try await settle(load, recipients, in: stack)
        #expect(numbers["closed"] as? Int == numbers["requests"] as? Int)
    }
}
