import Foundation
import Testing
import TestSupport

/// What a device shows while its app is in the foreground, categories that change under a notification that waits, and receipts.
extension DeviceScenarios {
    @Test("while its app is in the foreground, the notification, its category or nobody decides what a device shows")
    func foreground() async throws {
        let stack = try Stack.shared()
        let recipient = stack.recipient()
        try await stack.setCategories()
        try await stack.register("phone", of: recipient)
        try await tell("foreground", of: recipient, stack)
        // The two topics have no order: the state is known when it shows.
        var probes = 0
        try await eventually("the service knows that the app is in the foreground") {
            probes += 1
            return try await shown("probe-\(probes)", Self.order, recipient, stack).decider != "system"
        }
        let own = #"{"content":{"title":"T","categoryIdentifier":"LIST","presentation":["banner"]}}"#
        for (identifier, body, decider, options) in [
            ("own", own, "notification", ["banner"]), ("category", Self.of("LIST"), "category", ["list"]),
            ("null", Self.of("NONE"), "no-method", []), ("nobody", Self.of("KEEP"), "no-delegate", ["banner", "list"]),
        ] {
            let found = try await shown(identifier, body, recipient, stack)
            #expect(found.decider == decider && found.options == options, "\(identifier): \(found)")
        }
        try await tell("background", of: recipient, stack)
        try await eventually("the service knows that the app is in the background") {
            probes += 1
            return try await shown("probe-\(probes)", own, recipient, stack).options == ["banner", "list"]
        }
    }

    private func tell(_ state: String, of recipient: String, _ stack: Stack) async throws {
        let body = #"{"device":"phone","state":"\#(state)"}"#
        let answer = try await stack.call("POST", "recipients/\(recipient)/app-states", body)
        #expect(answer.status == 202, "\(answer.text)")
    }

    /// What the only device of a recipient was given, and who decided it; `system` where the event names nobody.
    private func shown(
        _ identifier: String,
        _ body: String,
        _ recipient: String,
        _ stack: Stack
    ) async throws -> (decider: String, options: [String]) {
        try await stack.put(recipient, identifier, body)
        let event = try await stack.event("delivered", recipient, identifier).object()
        let device = try #require((event["devices"] as? [[String: Any]])?.first, "\(event)")
        return (device["decidedBy"] as? String ?? "system", device["presentation"] as? [String] ?? [])
    }

    @Test("a notification that waits while the categories are replaced has those of its delivery, and keeps them")
    func replacedCategories() async throws {
        let stack = try Stack.shared()
        let recipient = stack.recipient()
        try await stack.setCategories(more: "SWAP", action: "first")
        let region = #""region":{"latitude":10,"longitude":20,"radius":200},"notifyOnEntry":true"#
        let request = try await stack.put(
            recipient,
            "near",
            #"{"content":{"title":"T","categoryIdentifier":"SWAP"},"trigger":{"type":"location",\#(region)}}"#
        )
        _ = try await stack.event("scheduled", recipient, "near")
        try await stack.setCategories(more: "SWAP", action: "second")
        let now = Date.now
        _ = try await stack.send(
            [(11, -20.0), (10, -10)].map { latitude, seconds in
                let at = Date.ISO8601FormatStyle(includingFractionalSeconds: true).format(now + seconds)
                let place = #""latitude":\#(latitude),"longitude":20,"accuracy":15"#
                return stack.signal("location", recipient, #"{"device":"phone",\#(place),"at":"\#(at)"}"#)
            }
        )
        let delivered = try await stack.event("delivered", recipient, "near")
        #expect(try names(delivered.object(), "actions", "identifier") == ["second"])
        try await stack.setCategories(more: "SWAP", action: "third")
        for action in ["first", "third"] {
            let places = try await stack.send([
                stack.signal("response", recipient, Self.response("\(action)-\(recipient)", request, "near", action))
            ])
            let letter = try #require(try await stack.deadLetters(of: places).first)
            #expect(letter.text("carillon-reason") == "unknown-action", "\(action)")
        }
        // One of an earlier set is no error of the caller: only the delivered notification knows.
        let reply =
            #"{"identifier":"near","requestId":"\#(request)","responseId":"s-\#(recipient)","actionIdentifier":"second"}"#
        #expect(try await stack.call("POST", "recipients/\(recipient)/responses", reply).status == 202)
        #expect(try await stack.response("s-\(recipient)")["matched"] == "true")
    }

    @Test("receipts in any order, twice, and late for what was replaced: one event each")
    func receipts() async throws {
        let stack = try Stack.shared()
        let recipient = stack.recipient()
        try await stack.register("phone", of: recipient)
        try await stack.register("tablet", of: recipient)
        let first = try await stack.put(recipient, "order", Self.order)
        _ = try await stack.event("delivered", recipient, "order")
        func receipt(_ name: String, _ device: String, _ request: String) -> TestRecord {
            let named = #""identifier":"order","requestId":"\#(request)","device":"\#(device)""#
            return stack.signal("receipt", recipient, #"{"application":"shop",\#(named),"receipt":"\#(name)"}"#)
        }
        _ = try await stack.send(
            ["opened", "received", "opened", "presented", "received"].map { receipt($0, "phone", first) }
        )
        for name in ["received", "presented", "opened"] {
            _ = try await stack.event("device.\(name)", recipient, "order")
        }
        let second = try await stack.put(recipient, "order", Self.order)
        _ = try await stack.events("delivered", recipient, "order", count: 2)
        _ = try await stack.send(
            [("received", "tablet", first), ("opened", "phone", first), ("opened", "tablet", second)].map(receipt)
        )
        _ = try await stack.events("device.opened", recipient, "order", count: 2)
        let all = stack.all(recipient).filter { $0.name.hasPrefix("device.") && $0["requestId"] != nil }
        let told = all.map { event in
            let request = event["requestId"] == first ? "first" : "second"
            return "\(event.name) \(event["device"] ?? "") \(request)\(event["late"] == "true" ? " late" : "")"
        }
        #expect(
            told.sorted() == [
                "device.opened phone first", "device.opened tablet second", "device.presented phone first",
                "device.received phone first", "device.received tablet first late",
            ]
        )
    }
}
