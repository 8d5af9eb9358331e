import TestSupport
import Foundation
import Testing

/// Spans of both services, as a collector by another hand gets them.
@Suite("Tracing", .serialized, .timeLimit(.minutes(10)))
struct TracingTests {
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let caller = "00f067aa0ba902b7"
    /// All of what must be in no attribute: recipient, identifier, title, answer, token.
    private static let secret = "geheim"

    private struct World {
        let collector: SpanCollector
        let webhooks: ChildProcess
        let stack: Stack
        let folder: TemporaryFolder

        init(_ further: [String: String] = [:]) async throws {
            folder = try TemporaryFolder()
            collector = try await SpanCollector()
            let key = "whsec_" + Data(repeating: 9, count: 32).base64EncodedString()
            let webhooks = try ChildProcess(
                try Tools.python(),
                [Tools.client("webhook.py"), "--source", "/carillon/traced", "--keys", key],
                keepsInput: true
            )
            var port: String?
            try await eventually("the receiver listens", orSay: { webhooks.lastWords }) {
                port = webhooks.outputLines.compactMap { JSONText.member("port", of: Data($0.utf8)) }.first
                return port != nil
            }
            self.webhooks = webhooks
            var settings = [
                "CARILLON_DEPLOYMENT": "traced",
                "CARILLON_TRACING_ENDPOINT": collector.endpoint,
                "CARILLON_TRACING_RATIO": "1",
                "CARILLON_TRACING_HEADERS_FILE": try folder.write("x-token: geheim-token\n", to: "headers"),
                "CARILLON_CHANNELS": "webhook",
                "CARILLON_WEBHOOK_URL": "http://127.0.0.1:\(port ?? "")/hooks",
                "CARILLON_WEBHOOK_INTERNAL": "true",
                "CARILLON_WEBHOOK_KEYS_FILE": try folder.write(key, to: "keys"),
                "CARILLON_RULES_FILE": try folder.write(
                    Self.rules(),
                    to: "rules.yaml"
                ),
            ]
            settings.merge(further) { _, new in new }
            stack = try await Stack.start(settings)
        }

        /// The rules of the tests, and one for the response that is sent here.
        private static func rules() throws -> String {
            let rules = try String(contentsOfFile: Tools.client("rules.yaml"), encoding: .utf8)
            let further = try String(contentsOfFile: Tools.client("response-rules.yaml"), encoding: .utf8)
            return rules + "\n"
                + further.replacingOccurrences(of: "rules:\n", with: "")
                .replacingOccurrences(of: "'reply'", with: "'default'")
        }

        func end() async throws {
            try await stack.stop()
            await webhooks.end()
            await collector.process.end()
        }

        /// Posts an event of a type of the rules.
        func post(_ type: String, _ recipient: String, _ identifier: String, traceparent: String?) async throws {
            var headers = [
                ("content-type", "application/json"), ("ce-specversion", "1.0"), ("ce-source", "/tests"),
                ("ce-type", "com.example.test.\(type)"), ("ce-id", UUID().uuidString), ("ce-subject", recipient),
            ]
            if let traceparent { headers.append(("traceparent", traceparent)) }
            let data = ["recipient": recipient, "identifier": identifier, "title": "geheim-titel"]
            let answer = try await Curl.send(
                "POST",
                "\(try await stack.producer.http)/v1/events",
                headers: headers,
                body: try JSONSerialization.data(withJSONObject: data)
            )
            #expect(answer.status == 202, "\(answer.text)")
        }

        /// The spans so far, with the prefix that topics have by default.
        var spans: [SpanCollector.Span] {
            collector.spans.map { span in
                var span = span
                span.name = renamed(span.name)
                span.attributes = span.attributes.mapValues(renamed)
                return span
            }
        }

        private func renamed(_ text: String) -> String {
            text.replacingOccurrences(of: stack.cluster.prefix, with: "carillon.")
        }

        /// The spans of a trace, once all names are among them, and that of the record `last`: spans come in batches.
        func spans(
            of trace: String,
            with names: Set<String>,
            last: KcatRecord? = nil
        ) async throws -> [SpanCollector.Span] {
            var found: [SpanCollector.Span] = []
            try await eventually(
                "the spans of \(trace)",
                within: .seconds(60),
                orSay: { "\(found.map(\.name)), wrong: \(collector.faults)\n\(stack.consumer.child.lastWords)" }
            ) {
                found = self.spans.filter { $0.trace == trace }
                let publishesLast = last.map { record in
                    found.contains { $0.attributes["messaging.message.id"] == record.headers["ce_id"] }
                }
                return names.isSubset(of: found.map(\.name)) && publishesLast ?? true
            }
            return found
        }
    }

    /// The span of a name; of several the last one.
    private func span(_ name: String, _ spans: [SpanCollector.Span]) throws -> SpanCollector.Span {
        try #require(spans.last { $0.name == name }, "\(name) is not among \(spans.map(\.name))")
    }

    /// The span that published a record of `deliveries`.
    private func published(_ record: KcatRecord, _ spans: [SpanCollector.Span]) throws -> SpanCollector.Span {
        try #require(
            spans.last {
                $0.name == "send carillon.deliveries"
                    && $0.attributes["messaging.message.id"] == record.headers["ce_id"]
            }
        )
    }

    @Test("lead from the business event to the webhook, and from the response to the answer of its rule")
    func chain() async throws {
        let world = try await World(["CARILLON_CHANNEL": "webhook"])
        do {
            try await lead(world)
        } catch {
            Issue.record(error, "\(world.stack.consumer.child.lastWords)\n\(world.stack.producer.child.lastWords)")
        }
        try await world.end()
    }

    private func lead(_ world: World) async throws {
        let (recipient, identifier) = ("geheim-empfaenger", "geheim-kennung")
        try await world.post("soon", recipient, identifier, traceparent: "00-\(Self.trace)-\(Self.caller)-01")
        let delivered = try await world.stack.event("delivered", recipient, identifier)
        let spans = try await world.spans(
            of: Self.trace,
            with: [
                "POST /v1/events", "send carillon.business-events", "process carillon.business-events",
                "send carillon.requests", "process carillon.requests", "fire trigger", "deliver webhook",
                "send carillon.deliveries",
            ],
            last: delivered
        )
        #expect(Set(spans.map(\.span)).count == spans.count)
        // Each step is caused by the one before.
        var last = Self.caller
        for (name, kind, service) in [
            ("POST /v1/events", "server", "producer"), ("send carillon.business-events", "producer", "producer"),
            ("process carillon.business-events", "consumer", "producer"),
            ("send carillon.requests", "producer", "producer"), ("process carillon.requests", "consumer", "consumer"),
            ("fire trigger", "internal", "consumer"), ("deliver webhook", "client", "consumer"),
        ] {
            let span = try span(name, spans)
            #expect(span.parent == last && span.kind == kind && span.service == "carillon-\(service)", "\(span)")
            #expect(!span.error && span.links == [] && span.token == "geheim-token", "\(span)")
            last = span.span
        }
        let known = Set(spans.map(\.span) + [Self.caller])
        for span in spans { #expect(known.contains(span.parent), "\(span)") }
        // The record and the webhook name the spans that caused them.
        let fired = try span("fire trigger", spans).span
        let sent = try #require(delivered.headers["traceparent"])
        let publication = try published(delivered, spans)
        #expect(sent == "00-\(Self.trace)-\(publication.span)-01" && publication.parent == fired)
        let request = try #require(
            world.webhooks.outputLines.last { $0.contains("carillon.notification.delivered.v1") }
        )
        let webhook = Data(request.utf8)
        #expect(JSONText.member("errors", of: webhook) == "()" || request.contains(#""errors": []"#), "\(request)")
        #expect(JSONText.member("traceparent", of: webhook) == "00-\(Self.trace)-\(last)-01")
        #expect(JSONText.member("cause", of: webhook) == "00-\(Self.trace)-\(fired)-01")
        try checkAttributes(spans, delivered)
        try await respond(world, to: delivered, publication)
        #expect(world.collector.faults == [])
    }

    private func checkAttributes(_ spans: [SpanCollector.Span], _ delivered: KcatRecord) throws {
        let publication = try published(delivered, spans).attributes
        #expect(publication["messaging.system"] == "kafka" && publication["messaging.operation.type"] == "send")
        #expect(publication["messaging.destination.name"] == "carillon.deliveries")
        #expect(publication["cloudevents.event_type"] == "carillon.notification.delivered.v1")
        let intake = try span("process carillon.requests", spans).attributes
        #expect(intake["messaging.operation.type"] == "process")
        #expect(intake["messaging.consumer.group.name"]?.hasSuffix("-consumer") == true)
        #expect(intake["messaging.kafka.offset"].flatMap { Int($0) } != nil)
        let call = try span("POST /v1/events", spans).attributes
        #expect(
            call == ["http.request.method": "POST", "http.route": "/v1/events", "http.response.status_code": "202"]
        )
        let attempt = try span("deliver webhook", spans).attributes
        #expect(attempt["carillon.outcome"] == "accepted" && attempt["carillon.channel"] == "webhook")
    }

    private func respond(
        _ world: World,
        to delivered: KcatRecord,
        _ publication: SpanCollector.Span
    ) async throws {
        let response = [
            "identifier": "geheim-kennung", "requestId": try #require(delivered["requestId"]),
            "actionIdentifier": "default", "userText": "geheim-antwort",
        ]
        let answer = try await Curl.send(
            "POST",
            "\(try await world.stack.producer.http)/v1/recipients/geheim-empfaenger/responses",
            headers: [("content-type", "application/json")],
            body: try JSONSerialization.data(withJSONObject: response)
        )
        #expect(answer.status == 202, "\(answer.text)")
        var found: SpanCollector.Span?
        try await eventually("the response is traced", within: .seconds(60)) {
            found = world.spans.last { $0.name == "process carillon.signals" }
            return found != nil
        }
        let intake = try #require(found)
        // Another call, so another trace, with a link to what it answers.
        #expect(intake.trace != Self.trace && intake.links == ["\(Self.trace)-\(publication.span)"], "\(intake)")
        let spans = try await world.spans(
            of: intake.trace,
            with: [
                "POST /v1/recipients/{recipient}/responses", "send carillon.signals", "process carillon.signals",
                "send carillon.responses", "process carillon.responses", "send carillon.requests",
                "process carillon.requests", "deliver webhook",
            ]
        )
        let call = try span("POST /v1/recipients/{recipient}/responses", spans)
        #expect(call.parent == "" && call.kind == "server")
        let known = Set(spans.map(\.span))
        for span in spans where span.span != call.span { #expect(known.contains(span.parent), "\(span)") }
        let page = try Page("Sources/carillon/carillon.docc/Tracing.md").text
        for span in world.spans {
            #expect(span.kind == "server" || page.contains("`\(span.name)`"), "the page does not have \(span.name)")
            for key in span.attributes.keys { #expect(page.contains("`\(key)`"), "the page does not have \(key)") }
            let texts = [span.name] + span.attributes.keys + span.attributes.values
            #expect(!texts.contains { $0.contains(Self.secret) }, "\(span)")
        }
    }

    @Test("SIGHUP reads the header fields again; a file that cannot be used changes nothing, and is logged")
    func headersAreReadAgain() async throws {
        let world = try await World()
        do {
            try await rotate(world)
        } catch {
            Issue.record(error, "\(world.stack.producer.child.lastWords)")
        }
        try await world.end()
    }

    private func rotate(_ world: World) async throws {
        let producer = world.stack.producer.child
        func reload(_ fields: String, _ said: String) async throws {
            _ = try world.folder.write(fields, to: "headers")
            producer.signal(SIGHUP)
            try await eventually("the file is read", orSay: { producer.lastWords }) {
                producer.errorText.contains("the header fields for the collector of spans are \(said)")
            }
        }
        func token(_ identifier: String) async throws -> String? {
            let trace = String(repeating: "0", count: 24) + identifier
            try await world.post("now", "ana", identifier, traceparent: "00-\(trace)-\(Self.caller)-01")
            return try span("POST /v1/events", try await world.spans(of: trace, with: ["POST /v1/events"])).token
        }
        #expect(try await token("00000001") == "geheim-token")
        try await reload("x-token: geheim-neu\n", "read again")
        #expect(try await token("00000002") == "geheim-neu")
        try await reload("x-token geheim-falsch\n", "not read again")
        #expect(try await token("00000003") == "geheim-neu")
        #expect(!producer.errorText.contains(Self.secret), "\(producer.lastWords)")
    }

    @Test("carillon check tries the collector, over TLS with an authority of its own")
    func checkCollector() async throws {
        let folder = try TemporaryFolder()
        let (certificate, both) = (folder.file("certificate.pem"), folder.file("both.pem"))
        _ = try await ChildProcess.run(
            try Tools.program("openssl"),
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                "-subj", "/CN=collector", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", both, "-out",
                certificate,
            ]
        )
        let key = try String(contentsOfFile: both, encoding: .utf8)
        try (key + String(contentsOfFile: certificate, encoding: .utf8))
            .write(toFile: both, atomically: true, encoding: .utf8)
        let collector = try await SpanCollector(certificate: both)
        var settings = [
            "CARILLON_KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1", "CARILLON_DEPLOYMENT": "traced",
            "CARILLON_TRACING_ENDPOINT": collector.endpoint,
        ]
        func step() async throws -> String {
            let check = try ChildProcess(
                try Tools.product("carillon"),
                ["check", "producer", "--timeout", "2s"],
                environment: settings
            )
            _ = try await check.ended(within: .seconds(60))
            return check.outputText.split(separator: "\n").first { $0.contains("the collector of spans") }.map(
                String.init
            ) ?? ""
        }
        let stranger = try await step()
        #expect(stranger.contains("warning") && stranger.contains("tracing.ca.file"), "\(stranger)")
        settings["CARILLON_TRACING_CA_FILE"] = certificate
        let right = try await step()
        #expect(right.contains("ok") && right.contains("\(collector.endpoint) takes them"), "\(right)")
        try await collector.answer("401")
        let refused = try await step()
        #expect(refused.contains("warning") && refused.contains("status 401"), "\(refused)")
        #expect(collector.faults.isEmpty && collector.spans.isEmpty)
        await collector.process.end()
    }

    @Test("are dropped and counted when the collector fails, and deliveries go on")
    func failingCollector() async throws {
        let world = try await World()
        do {
            try await failCollector(world)
        } catch {
            Issue.record(error, "\(world.stack.producer.child.lastWords)")
        }
        try await world.end()
    }

    private func failCollector(_ world: World) async throws {
        func count(_ outcome: String) async throws -> Double {
            let line = "carillon_spans_total{outcome=\"\(outcome)\"} "
            let metrics = try await world.stack.producer.metrics.split(separator: "\n")
            return metrics.first { $0.hasPrefix(line) }.flatMap { Double($0.dropFirst(line.count)) } ?? -1
        }
        try await world.post("now", "ana", "first", traceparent: nil)
        try await eventually("spans are exported") { try await count("exported") > 0 }
        // A refusal for good.
        try await world.collector.answer("400")
        try await world.post("now", "ana", "refused", traceparent: nil)
        try await eventually("spans fail") { try await count("failed") > 0 }
        // Try again later: what does not fit the queue is dropped.
        try await world.collector.answer("503 30")
        try await send(world, 9_000, "busy")
        try await eventually("spans are dropped") { try await count("dropped") > 0 }
        let dropped = try await count("dropped")
        try await world.collector.answer("slow")
        try await send(world, 500, "slow")
        await world.collector.process.end()
        try await send(world, 500, "away")
        for name in ["busy", "slow", "away"] {
            _ = try await world.stack.event("delivered", "ana", "\(name)-0")
        }
        #expect(try await count("dropped") >= dropped)
        #expect(try await world.stack.producer.health("ready").status == 200)
        #expect(try await world.stack.consumer.health("ready").status == 200)
    }

    /// Posts events in batches, and waits for the deliveries of all.
    private func send(_ world: World, _ count: Int, _ name: String) async throws {
        for start in stride(from: 0, to: count, by: 500) {
            let events = (start..<min(count, start + 500)).map { number -> [String: Any] in
                [
                    "specversion": "1.0", "source": "/tests", "type": "com.example.test.now", "id": "\(name)-\(number)",
                    "subject": "ana",
                    "data": ["recipient": "ana", "identifier": "\(name)-\(number)", "title": "Test"],
                ]
            }
            let answer = try await Curl.send(
                "POST",
                "\(try await world.stack.producer.http)/v1/events",
                headers: [("content-type", "application/cloudevents-batch+json")],
                body: try JSONSerialization.data(withJSONObject: events)
            )
            #expect(answer.status == 202, "\(answer.text.prefix(500))")
        }
        try await eventually("all of \(name) is delivered", within: .seconds(120)) {
            let identifiers = world.stack.all("ana").filter { $0.name == "delivered" }.compactMap { $0["identifier"] }
            return Set(identifiers.filter { $0.hasPrefix("\(name)-") }).count == count
        }
    }
}
