import Foundation
import Testing
import TestSupport

/// Devices, and what comes back from them, through both services as real processes: curl registers devices and answers, a Python
/// client plays the gateway and the phones, and kcat reads the results.
///
/// With `KAFKA_BOOTSTRAP_SERVERS` set they run against that cluster.
@Suite(
    "Devices and responses with real processes",
    .serialized,
    .stack([
        "CARILLON_RULES_FILE": Tools.client("response-rules.yaml"), "CARILLON_QUERIES_ENABLED": "true",
        "CARILLON_QUERIES_PORT": "0",
    ])
)
struct DeviceScenarios {
    static let order = #"{"content":{"title":"Order","body":"Here","badge":3,"categoryIdentifier":"ORDER"}}"#

    /// A body whose content has a category.
    static func of(_ category: String) -> String {
        #"{"content":{"title":"T","categoryIdentifier":"\#(category)"}}"#
    }

    // MARK: The loop

    @Test("a notification is shown and answered, the response comes back once with its content, and a rule answers it")
    func loop() async throws {
        let stack = try Stack.shared()
        let recipient = stack.recipient()
        try await stack.setCategories()
        try await stack.register("phone", of: recipient, settings: #","settings":{"sound":"disabled"}"#)
        let gateway = try stack.gateway(of: recipient)
        let request = try await stack.put(recipient, "order", Self.order)

        var phone: [String: Any]?
        try await eventually("the phone shows it", orSay: { gateway.lastWords }) {
            phone = gateway.outputLines.first.flatMap { JSONText.object(Data($0.utf8)) }
            return phone != nil
        }
        let shown = try #require(phone)
        #expect(shown["requestId"] as? String == request && shown["device"] as? String == "phone")
        #expect(Set(shown["presentation"] as? [String] ?? []) == ["banner", "list", "badge"])
        #expect(shown["badge"] as? Int == 3)
        #expect(try names(shown, "actions", "identifier") == ["track", "reply"])

        let attempted = try await stack.event("device.attempted", recipient, "order")
        #expect(attempted["outcome"] == "accepted" && attempted["device"] == "phone")
        for name in ["device.received", "device.presented", "device.opened"] {
            #expect(try await stack.event(name, recipient, "order")["device"] == "phone", "\(name)")
        }

        // Refused before it is a signal, and where no service could know it before.
        let unknown = #"{"identifier":"order","requestId":"\#(request)","actionIdentifier":"fly"}"#
        let refused = try await stack.call("POST", "recipients/\(recipient)/responses", unknown)
        #expect(refused.status == 400 && refused["reason"] == "unknown-action", "\(refused.text)")
        let places = try await stack.send([
            stack.signal("response", recipient, Self.response("x-\(recipient)", request, "order", "fly"))
        ])
        let letter = try #require(try await stack.deadLetters(of: places).first)
        #expect(letter.text("carillon-reason") == "unknown-action")
        #expect(letter.text("carillon-field") == "actionIdentifier")

        let reply =
            #"{"identifier":"order","requestId":"\#(request)","responseId":"r-\#(recipient)","device":"phone","#
            + #""actionIdentifier":"reply","userText":"Grüße ☃"}"#
        #expect(try await stack.call("POST", "recipients/\(recipient)/responses", reply).status == 202)
        let response = try await stack.response("r-\(recipient)")
        #expect(response["requestId"] == request && response["matched"] == "true")
        #expect(response["actionIdentifier"] == "reply" && response["userText"] == "Grüße ☃")
        #expect(response["categoryIdentifier"] == "ORDER" && response["content.title"] == "Order")
        #expect(response.key == "shop/\(recipient)/order")
        #expect(try await stack.event("removed", recipient, "order")["by"] == "r-\(recipient)")

        let answer = try await stack.event("delivered", recipient, "order-answer")
        #expect(answer["content.body"] == "You wrote: Grüße ☃" && answer["content.title"] == "Order")
        try await eventually("the phone shows the answer", orSay: { gateway.lastWords }) {
            gateway.outputText.contains("You wrote")
        }

        // Again, over both ways; what it answered is gone now. The last response is behind them in their partition.
        #expect(try await stack.call("POST", "recipients/\(recipient)/responses", reply).status == 202)
        _ = try await stack.send([
            stack.signal("response", recipient, Self.response("r-\(recipient)", request, "order", "reply")),
            stack.signal("response", recipient, Self.response("late-\(recipient)", request, "order", "default")),
        ])
        let late = try await stack.response("late-\(recipient)")
        #expect(late["matched"] == "false" && late["content"] == nil)
        #expect(stack.responses.records.count { $0["responseId"] == "r-\(recipient)" } == 1)
        #expect(stack.all(recipient).count { $0.name == "delivered" && $0["identifier"] == "order-answer" } == 1)
        // The gateway tells everything twice.
        for name in ["device.attempted", "device.received", "device.presented", "device.opened"] {
            let told = stack.all(recipient).filter { $0.name == name && $0["identifier"] == "order" }
            #expect(told.count == 1, "\(name)")
        }
        await gateway.end()
    }

    @Test("a response to what was removed is an event without content, and so is one to what never was")
    func unmatched() async throws {
        let stack = try Stack.shared()
        let recipient = stack.recipient()
        let request = try await stack.put(recipient, "order", Self.order)
        _ = try await stack.event("delivered", recipient, "order")
        try await stack.delete(recipient, "order", state: "delivered")
        _ = try await stack.event("removed", recipient, "order")
        _ = try await stack.send([
            stack.signal("response", recipient, Self.response("gone-\(recipient)", request, "order", "default")),
            stack.signal("response", recipient, Self.response("never-\(recipient)", "q-1", "never", "default")),
        ])
        for id in ["gone", "never"] {
            let response = try await stack.response("\(id)-\(recipient)")
            #expect(response["matched"] == "false" && response["content"] == nil, "\(id)")
        }
    }

    @Test("a category decides what a response does: one that keeps answers nothing, one that dismisses takes it away")
    func policies() async throws {
        let stack = try Stack.shared()
        let recipient = stack.recipient()
        try await stack.setCategories()
        for (category, action) in [("KEEP", "snooze"), ("DISMISS", "done")] {
            let request = try await stack.put(recipient, category, Self.of(category))
            _ = try await stack.event("delivered", recipient, category)
            _ = try await stack.send([
                stack.signal("response", recipient, Self.response("\(action)-\(recipient)", request, category, action))
            ])
        }
        #expect(try await stack.event("removed", recipient, "DISMISS")["by"] == "done-\(recipient)")
        #expect(!stack.all(recipient).contains { $0.name == "removed" && $0["identifier"] == "KEEP" })
        _ = try await stack.send([
            stack.signal("response", recipient, Self.response("last-\(recipient)", "q-1", "never", "default"))
        ])
        _ = try await stack.response("last-\(recipient)")
        #expect(stack.responses.records.count { $0["recipient"] == recipient } == 1)
    }

    @Test("killed between delivery and response, the consumer service still knows what the response answers")
    func killedBeforeResponse() async throws {
        let stack = try Stack.shared()
        let recipient = stack.recipient()
        try await stack.setCategories()
        try await stack.register("phone", of: recipient)
        let request = try await stack.put(recipient, "order", Self.order)
        _ = try await stack.event("delivered", recipient, "order")
        stack.consumer.child.signal(SIGKILL)
        _ = try await stack.consumer.child.ended()
        let reply =
            #"{"identifier":"order","requestId":"\#(request)","responseId":"k-\#(recipient)","#
            + #""actionIdentifier":"reply","userText":"Hello"}"#
        #expect(try await stack.call("POST", "recipients/\(recipient)/responses", reply).status == 202)
        try await stack.restartConsumer()
        let response = try await stack.response("k-\(recipient)")
        #expect(response["matched"] == "true" && response["content.title"] == "Order")
        _ = try await stack.event("delivered", recipient, "order-answer")
        // The device is still known.
        let again = try await stack.put(recipient, "again", Self.order)
        let delivered = try await stack.event("delivered", recipient, "again")
        #expect(delivered["requestId"] == again)
        #expect(try names(delivered.object(), "devices", "device") == ["phone"])
    }

    @Test("killed after a rule has answered, the producer service answers no response twice")
    func killedAfterAnswer() async throws {
        let stack = try Stack.shared()
        let recipient = stack.recipient()
        try await stack.setCategories()
        func answer(_ identifier: String) async throws {
            let request = try await stack.put(recipient, identifier, Self.order)
            _ = try await stack.event("delivered", recipient, identifier)
            let reply = #"{"identifier":"\#(identifier)","requestId":"\#(request)","actionIdentifier":"reply"}"#
            #expect(try await stack.call("POST", "recipients/\(recipient)/responses", reply).status == 202)
            _ = try await stack.event("delivered", recipient, "\(identifier)-answer")
        }
        try await answer("first")
        stack.producer.child.signal(SIGKILL)
        _ = try await stack.producer.child.ended()
        try await stack.restartProducer()
        // Its response is behind the first one in their partition.
        try await answer("second")
        #expect(stack.all(recipient).count { $0.name == "delivered" } == 4)
    }

    // MARK: Reports

    @Test(
        "what a gateway reports decides: one device refuses, one is gone and retired; when none is left it has failed"
    )
    func reports() async throws {
        let stack = try Stack.shared()
        let recipient = stack.recipient()
        try await stack.register("broken", of: recipient)
        try await stack.register("gone", of: recipient)
        let gateway = try stack.gateway(of: recipient)
        try await stack.put(recipient, "order")
        let attempts = try await stack.events("device.attempted", recipient, "order", count: 2)
        #expect(
            Set(attempts.map { "\($0["device"] ?? "") \($0["reason"] ?? "")" }) == [
                "broken rejected", "gone unregistered",
            ]
        )
        _ = try await stack.event("failed", recipient, "order")
        #expect(try await stack.device("retired", "gone", of: recipient)["reason"] == "unregistered")
        try await stack.put(recipient, "next")
        let next = try await stack.event("delivered", recipient, "next")
        #expect(try names(next.object(), "devices", "device") == ["broken"])
        await gateway.end()
    }

    /// A response over Kafka.
    static func response(_ id: String, _ request: String, _ identifier: String, _ action: String) -> String {
        #"{"application":"shop","identifier":"\#(identifier)","requestId":"\#(request)","responseId":"\#(id)","#
            + #""actionIdentifier":"\#(action)"}"#
    }

    /// A member of each object in an array.
    func names(_ event: [String: Any], _ array: String, _ member: String) throws -> [String] {
        try #require(event[array] as? [[String: Any]], "no \(array) in \(event)").compactMap { $0[member] as? String }
    }
}

extension KcatRecord {
    func object() throws -> [String: Any] { try #require(JSONText.object(Data((payload ?? "").utf8))) }
}
