import Foundation
import Testing
import TestSupport

/// Quiet hours, caps and digests, by request.
extension DeviceScenarios {
    /// Quiet hours from an hour ago to an hour from now, in UTC.
    private static func quiet(_ policy: String) -> String {
        func clock(_ date: Date) -> String {
            let parts = Calendar(identifier: .iso8601).dateComponents(in: .gmt, from: date)
            return String(format: "%02d:%02d", parts.hour ?? 0, parts.minute ?? 0)
        }
        let (start, end) = (clock(.now - 3600), clock(.now + 3600))
        return #"{"start":"\#(start)","end":"\#(end)","policy":"\#(policy)","timeZone":"UTC"}"#
    }

    private static func body(_ limits: String, content: String = #""title":"T""#) -> String {
        #"{"content":{\#(content)},\#(limits)}"#
    }

    @Test("in quiet hours a notification is suppressed or held, and a critical one passes")
    func quietHours() async throws {
        let stack = try Stack.shared()
        let recipient = stack.recipient()
        try await stack.put(recipient, "suppressed", Self.body(#""quietHours":\#(Self.quiet("suppress"))"#))
        let suppressed = try await stack.event("suppressed", recipient, "suppressed")
        #expect(suppressed["reason"] == "quiet-hours" && suppressed["closes"] == "true")

        try await stack.put(recipient, "held", Self.body(#""quietHours":\#(Self.quiet("hold"))"#))
        let held = try await stack.event("held", recipient, "held")
        #expect(held["reason"] == "quiet-hours" && held["closes"] == "false")
        #expect((held["until"] ?? "").hasSuffix(":00.000Z"))
        try await stack.delete(recipient, "held", state: "pending")
        _ = try await stack.event("cancelled", recipient, "held")

        let critical = #""title":"T","interruptionLevel":"critical""#
        try await stack.put(
            recipient,
            "critical",
            Self.body(#""quietHours":\#(Self.quiet("suppress"))"#, content: critical)
        )
        _ = try await stack.event("delivered", recipient, "critical")
    }

    @Test("a cap counts what a category has had, also across a restart")
    func cap() async throws {
        let stack = try Stack.shared()
        let recipient = stack.recipient()
        let body = Self.body(#""cap":{"count":2,"period":86400}"#, content: #""title":"T","categoryIdentifier":"NEWS""#)
        for identifier in ["1", "2"] {
            try await stack.put(recipient, identifier, body)
            _ = try await stack.event("delivered", recipient, identifier)
        }
        try await stack.put(recipient, "3", body)
        #expect(try await stack.event("suppressed", recipient, "3")["reason"] == "capped")
        await stack.consumer.child.end()
        try await stack.restartConsumer()
        try await stack.put(recipient, "4", body)
        #expect(try await stack.event("suppressed", recipient, "4")["reason"] == "capped")
        try await stack.put(recipient, "5", Self.body(#""cap":{"count":2,"period":86400}"#))
        _ = try await stack.event("delivered", recipient, "5")
    }

    @Test(
        "three notifications of a thread become one, also when the consumer service is killed within the window",
        arguments: [false, true]
    )
    func digest(_ isKilled: Bool) async throws {
        let stack = try Stack.shared()
        let recipient = stack.recipient()
        let names = ["one", "two", "three"]
        // Straight to Kafka and a long window, so that all of them are within it on a loaded machine, too.
        let limits = #""digest":{"by":"thread","window":15,"title":"{{count}} updates","body":"{{titles}}"}"#
        let requests = names.map { name in
            TestRecord(
                topic: stack.cluster.topic("requests"),
                key: "shop/\(recipient)/\(name)",
                value: Data(
                    Self.body(
                        #""requestId":"\#(name)-\#(recipient)",\#(limits)"#,
                        content: #""title":"\#(name)","threadIdentifier":"orders""#
                    ).utf8
                ),
                recipient: recipient
            )
        }
        let placed = try await stack.send(requests)
        for name in names {
            #expect(try await stack.event("held", recipient, name)["reason"] == "digest")
        }
        if isKilled {
            // What is read again on the embedded broker, with at-least-once, may have been sent: it does not wait once more.
            try await eventually("what is held is committed", orSay: { stack.consumer.child.lastWords }) {
                let markers = stack.state.markers
                return placed.allSatisfy { markers[$0.partition]?[$0.topic] ?? 0 > $0.offset }
            }
            stack.consumer.child.signal(SIGKILL)
            _ = try await stack.consumer.child.ended()
            try await stack.restartConsumer()
        }
        let delivered = try await stack.deliveries.records(1, "the digest of \(recipient)") {
            $0.name == "delivered" && $0["recipient"] == recipient
        }
        let digest = try #require(delivered.first)
        #expect(digest["content.title"] == "3 updates" && digest["content.threadIdentifier"] == "orders")
        for name in names {
            #expect(digest["content.body"]?.contains(name) == true)
            let folded = try await stack.event("digested", recipient, name)
            #expect(folded["requestId"] == "\(name)-\(recipient)" && folded["closes"] == "true")
            #expect(folded["into"] == digest["requestId"])
        }
        #expect(stack.all(recipient).count { $0.name == "delivered" } == 1)
    }
}
