import Foundation
import Testing
import TestSupport

/// Both services as real processes on one Kafka, with independent clients: the CloudEvents Python SDK and confluent-kafka publish
/// business events, curl makes the calls, and kcat reads the results. The scenarios share the processes and run one after the
/// other, each with its own recipients.
///
/// With `KAFKA_BOOTSTRAP_SERVERS` set they run against that cluster.
@Suite("Both services as real processes", .serialized, .stack)
struct ServiceScenarios {
    static let hour = #"{"content":{"title":"Test"},"trigger":{"type":"timeInterval","timeInterval":3600}}"#

    // MARK: From a business event to a delivery event

    @Test(
        "a business event of the CloudEvents SDK becomes a request and a delivery event, in both modes",
        arguments: [TestEvent.Mode.binary, .structured]
    )
    func eventToDelivery(_ mode: TestEvent.Mode) async throws {
        let stack = try Stack.shared()
        let recipient = stack.recipient()
        var event = TestEvent(type: "now", recipient: recipient, identifier: "order 1/ü", mode: mode)
        event.data["title"] = "Grüße \"☃\""
        let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
        // In the binary mode where tracing libraries put it, in the structured one as the extension.
        if mode == .binary {
            event.headers["traceparent"] = "00-\(trace)-00f067aa0ba902b7-01"
        } else {
            event.extensions["traceparent"] = "00-\(trace)-00f067aa0ba902b7-01"
        }
        _ = try await stack.send(event)

        let delivered = try await stack.event("delivered", recipient, "order 1/ü")
        #expect(delivered.key == "shop/\(recipient)/order%201%2F%C3%BC")
        #expect(delivered["closes"] == "true")
        #expect(delivered["channel"] == "events")
        #expect(delivered["content.title"] == "Grüße \"☃\"")
        #expect(delivered["content.categoryIdentifier"] == "TEST")
        #expect(delivered.traceID == trace, "the trace of the business event goes on in the delivery event")

        let request = try #require(
            try await stack.requests.records(1, "request of \(recipient)") { $0["recipient"] == recipient }.first
        )
        #expect(request.name == "request")
        #expect(request["requestId"] == delivered["requestId"])
        #expect(request.key == delivered.key)
        #expect(request.traceID == trace)
    }

    @Test("a notification with a time interval is scheduled, and delivered when it is due")
    func scheduledThenDelivered() async throws {
        let stack = try Stack.shared()
        let recipient = stack.recipient()
        _ = try await stack.send(TestEvent(type: "soon", recipient: recipient, identifier: "order"))
        let scheduled = try await stack.event("scheduled", recipient, "order")
        #expect(scheduled["closes"] == "false")
        let due = try #require(scheduled["nextTriggerDate"])
        let delivered = try await stack.event("delivered", recipient, "order")
        #expect(delivered["requestId"] == scheduled["requestId"])
        #expect(delivered["occurrence"] == due, "the nominal instant")
        #expect(delivered["closes"] == "true")
        // Never early, by the owner's clock; both are RFC 3339 in UTC, which compare as texts.
        #expect((delivered.headers["ce_time"] ?? "") >= due)
    }

    @Test("events over HTTP have the same effect, one by one and as a batch")
    func eventsOverHTTP() async throws {
        let stack = try Stack.shared()
        let recipient = stack.recipient()
        let url = "\(try await stack.producer.http)/v1/events"
        func data(_ identifier: String) -> String {
            #"{"recipient":"\#(recipient)","identifier":"\#(identifier)","title":"HTTP"}"#
        }
        func whole(_ identifier: String) -> String {
            #"{"specversion":"1.0","type":"com.example.test.now","source":"/http","id":"\#(recipient)-\#(identifier)","#
                + #""datacontenttype":"application/json","data":\#(data(identifier))}"#
        }
        let binary = try await Curl.send(
            "POST",
            url,
            headers: [
                ("content-type", "application/json"), ("ce-specversion", "1.0"), ("ce-type", "com.example.test.now"),
                ("ce-source", "/http"), ("ce-id", "\(recipient)-binary"),
                ("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
            ],
            body: Data(data("binary").utf8)
        )
        #expect(binary.status == 202, "\(binary.text)")
        let structured = try await Curl.send(
            "POST",
            url,
            headers: [("content-type", "application/cloudevents+json")],
            body: Data(whole("structured").utf8)
        )
        #expect(structured.status == 202, "\(structured.text)")
        let batch = try await Curl.send(
            "POST",
            url,
            headers: [("content-type", "application/cloudevents-batch+json")],
            body: Data("[\(whole("first")),\(whole("second"))]".utf8)
        )
        #expect(batch.status == 202, "\(batch.text)")
        for identifier in ["binary", "structured", "first", "second"] {
            let delivered = try await stack.event("delivered", recipient, identifier)
            if identifier == "binary" { #expect(delivered.traceID == "0af7651916cd43dd8448eb211c80319c") }
        }
    }

    @Test("an event that does not meet a condition causes no request and no dead letter")
    func conditionNotMet() async throws {
        let stack = try Stack.shared()
        let recipient = stack.recipient()
        func maybe(_ identifier: String, _ notify: String) -> String {
            JSONLine.text([
                "event": [
                    "type": "com.example.test.maybe", "source": "/tests", "id": UUID().uuidString, "subject": recipient,
                    "datacontenttype": "application/json",
                ],
                "data": ["recipient": recipient, "identifier": identifier, "notify": notify == "true"],
            ])
        }
        let places = try await PythonProducer.send(
            [maybe("no", "false"), maybe("yes", "true")],
            to: stack.cluster
        )
        // Same subject, same partition: the second event was read second.
        _ = try await stack.event("delivered", recipient, "yes")
        #expect(stack.all(recipient).allSatisfy { $0["identifier"] == "yes" })
        #expect(
            !stack.deadLetters.records.contains {
                $0.bigEndian("kafka_dlt-original-offset", bytes: 8) == places[0].offset
                    && $0.text("kafka_dlt-original-topic") == places[0].topic
                    && $0.bigEndian("kafka_dlt-original-partition", bytes: 4) == places[0].partition
            }
        )
    }

    // MARK: Replace, cancel, remove, expire

    @Test("a newer request replaces a pending one whole")
    func replacePending() async throws {
        let stack = try Stack.shared()
        let recipient = stack.recipient()
        let first = try await stack.put(recipient, "order", Self.hour)
        let second = try await stack.put(recipient, "order", Self.hour)
        let superseded = try await stack.event("superseded", recipient, "order")
        #expect(superseded["requestId"] == first)
        #expect(superseded["by"] == second)
        #expect(superseded["closes"] == "true")
        let scheduled = try await stack.events("scheduled", recipient, "order", count: 2)
        #expect(scheduled.map { $0["requestId"] } == [first, second])
        #expect(scheduled.last?["replaces"] == first)
        // A business event cancels the notification that a call requested.
        _ = try await stack.send(TestEvent(type: "cancelled", recipient: recipient, identifier: "order"))
        #expect(try await stack.event("cancelled", recipient, "order")["requestId"] == second)
    }

    @Test("a newer request replaces a delivered one, and its event names it")
    func replaceDelivered() async throws {
        let stack = try Stack.shared()
        let recipient = stack.recipient()
        let first = try await stack.put(
            recipient,
            "score",
            headers: [("traceparent", "00-11111111111111111111111111111111-2222222222222222-01")]
        )
        let second = try await stack.put(recipient, "score", #"{"content":{"title":"2:1"}}"#)
        let delivered = try await stack.events("delivered", recipient, "score", count: 2)
        #expect(delivered.map { $0["requestId"] } == [first, second])
        #expect(delivered.last?["replaces"] == first)
        #expect(delivered.first?.traceID == "11111111111111111111111111111111")
    }

    @Test("the event of a removal names the cancelled request, which is not delivered")
    func cancel() async throws {
        let stack = try Stack.shared()
        let recipient = stack.recipient()
        let request = try await stack.put(recipient, "order", Self.hour)
        let removal = try await stack.delete(recipient, "order", state: "pending")
        let cancelled = try await stack.event("cancelled", recipient, "order")
        #expect(cancelled["requestId"] == request)
        #expect(cancelled["by"] == removal)
        #expect(cancelled["closes"] == "true")
    }

    @Test("a removal that is too late, or finds nothing, has an event with the known state")
    func missedCancel() async throws {
        let stack = try Stack.shared()
        let recipient = stack.recipient()
        try await stack.put(recipient, "sent")
        _ = try await stack.event("delivered", recipient, "sent")
        try await stack.delete(recipient, "sent", state: "pending")
        #expect(try await stack.event("cancellation.missed", recipient, "sent")["known"] == "delivered")
        let removal = try await stack.delete(recipient, "never", state: "pending")
        let missed = try await stack.event("cancellation.missed", recipient, "never")
        #expect(missed["known"] == "unknown")
        #expect(missed["requestId"] == removal)
        #expect(missed["closes"] == "false")
    }

    @Test("a removal of a delivered notification has its own event")
    func removeDelivered() async throws {
        let stack = try Stack.shared()
        let recipient = stack.recipient()
        let request = try await stack.put(recipient, "order")
        try await stack.delete(recipient, "order", state: "delivered")
        let removed = try await stack.event("removed", recipient, "order")
        #expect(removed["requestId"] == request)
        #expect(removed["closes"] == "false")
    }

    @Test(
        "a request that expires before it is due expires immediately, and one that expired on its way is not delivered"
    )
    func expire() async throws {
        let stack = try Stack.shared()
        let recipient = stack.recipient()
        let soon = Date.ISO8601FormatStyle(includingFractionalSeconds: true).format(.now.addingTimeInterval(600))
        let body =
            #"{"content":{"title":"Test"},"trigger":{"type":"timeInterval","timeInterval":3600},"expiration":"\#(soon)"}"#
        let request = try await stack.put(recipient, "order", body)
        let expired = try await stack.event("expired", recipient, "order")
        #expect(expired["requestId"] == request)
        #expect(expired["closes"] == "true")
        _ = try await stack.send([
            record(stack, recipient, "late", #"{"content":{"title":"Test"},"expiration":"2020-01-01T00:00:00.000Z"}"#)
        ])
        #expect(try await stack.event("expired", recipient, "late")["closes"] == "true")
        #expect(!stack.all(recipient).contains { $0.name == "delivered" })
    }

    @Test("an older version is superseded on arrival")
    func version() async throws {
        let stack = try Stack.shared()
        let recipient = stack.recipient()
        let newer = try await stack.put(recipient, "order", #"{"version":7,"content":{"title":"New"}}"#)
        let older = try await stack.put(recipient, "order", #"{"version":6,"content":{"title":"Old"}}"#)
        let superseded = try await stack.event("superseded", recipient, "order")
        #expect(superseded["requestId"] == older)
        #expect(superseded["by"] == newer)
    }

    // MARK: Records from elsewhere

    func record(_ stack: Stack, _ recipient: String, _ identifier: String, _ value: String?) -> TestRecord {
        TestRecord(
            topic: stack.cluster.topic("requests"),
            key: "shop/\(recipient)/\(identifier)",
            value: value.map { Data($0.utf8) },
            recipient: recipient
        )
    }

    @Test("a null value on requests removes all of that identifier, pending and delivered, and nothing else")
    func tombstone() async throws {
        let stack = try Stack.shared()
        let recipient = stack.recipient()
        let delivered = try await stack.put(recipient, "order")
        let pending = try await stack.put(recipient, "order", Self.hour)
        try await stack.put(recipient, "other", Self.hour)
        _ = try await stack.event("scheduled", recipient, "other")
        _ = try await stack.send([record(stack, recipient, "order", nil)])
        #expect(try await stack.event("cancelled", recipient, "order")["requestId"] == pending)
        #expect(try await stack.event("removed", recipient, "order")["requestId"] == delivered)
        // The other one is still there.
        try await stack.delete(recipient, "other", state: "pending")
        _ = try await stack.event("cancelled", recipient, "other")
    }

    @Test("a removal with an empty identifier in its key is for all of the recipient's")
    func removeAll() async throws {
        let stack = try Stack.shared()
        let recipient = stack.recipient()
        for identifier in ["one", "two"] { try await stack.put(recipient, identifier, Self.hour) }
        _ = try await stack.send([record(stack, recipient, "", #"{"remove":"all"}"#)])
        for identifier in ["one", "two"] { _ = try await stack.event("cancelled", recipient, identifier) }
    }

    @Test("the same business event twice is one delivery, and is counted as a duplicate")
    func duplicate() async throws {
        let stack = try Stack.shared()
        let recipient = stack.recipient()
        let event = TestEvent(type: "now", recipient: recipient, identifier: "order")
        _ = try await stack.send(event, event, TestEvent(type: "now", recipient: recipient, identifier: "after"))
        _ = try await stack.event("delivered", recipient, "after")
        #expect(stack.all(recipient).filter { $0["identifier"] == "order" }.count == 1)
        let requests = stack.requests.records.filter { $0["recipient"] == recipient && $0["identifier"] == "order" }
        #expect(Set(requests.map { $0["requestId"] }).count == 1, "the id is derived from the event")
        let counter = #"carillon_requests_total{outcome="duplicate"}"#
        try await eventually("a duplicate is counted") {
            try await stack.consumer.metrics.split(separator: "\n").contains {
                $0.hasPrefix(counter) && !$0.hasSuffix(" 0")
            }
        }
    }
}
