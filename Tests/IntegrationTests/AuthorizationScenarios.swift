import Foundation
import Testing

/// What authorization, settings and applications decide, what a thread shows, and signals that cannot be used.
extension DeviceScenarios {
    @Test("each device is listed with what its authorization and settings leave, its locale, level and badge")
    func authorization() async throws {
        let stack = try Stack.shared()
        let recipient = stack.recipient()
        for (device, members) in [
            ("asked", #","authorizationStatus":"notDetermined""#), ("denied", #","authorizationStatus":"denied""#),
            ("phone", #","locale":"zh-Hans-CN","settings":{"sound":"disabled","timeSensitive":"disabled"}"#),
            ("quiet", #","authorizationStatus":"provisional""#),
        ] {
            try await stack.register(device, of: recipient, settings: members)
        }
        let content = #""title":"T","sound":"default","badgeIncrement":2,"interruptionLevel":"timeSensitive""#
        for (identifier, badge) in [("first", 2), ("second", 4)] {
            try await stack.put(recipient, identifier, #"{"content":{\#(content),"threadIdentifier":"orders"}}"#)
            let event = try await stack.event("delivered", recipient, identifier).object()
            let devices = try #require(event["devices"] as? [[String: Any]])
            let named = Dictionary(uniqueKeysWithValues: devices.map { ($0["device"] as? String ?? "", $0) })
            for left in ["asked", "denied"] {
                #expect(named[left]?["outcome"] as? String == "suppressed")
                #expect(named[left]?["reason"] as? String == "not-authorized")
            }
            let phone = try #require(named["phone"])
            #expect(phone["presentation"] as? [String] == ["banner", "list", "badge"], "\(phone)")
            #expect(phone["badge"] as? Int == badge && phone["locale"] as? String == "zh-Hans-CN")
            #expect(phone["interruptionLevel"] as? String == "active")
            #expect(named["quiet"]?["presentation"] as? [String] == ["list", "badge"])
            let thread = try #require(event["thread"] as? [String: Any])
            #expect(thread["identifier"] as? String == "orders" && thread["count"] as? Int == badge / 2)
            #expect(thread["update"] as? Bool == (identifier == "second"))
        }
    }

    @Test("applications have devices of their own")
    func applications() async throws {
        let stack = try Stack.shared()
        let recipient = stack.recipient()
        let path = "recipients/\(recipient)/devices/phone?application=other"
        #expect(try await stack.call("PUT", path, #"{"platform":"fcm","token":"\#(recipient)"}"#).status == 202)
        _ = try await stack.device("registered", "phone", of: recipient)
        for application in ["shop", "other"] {
            let notification = "recipients/\(recipient)/notifications/\(application)?application=\(application)"
            #expect(try await stack.call("PUT", notification, #"{"content":{"title":"T"}}"#).status == 202)
            let event = try await stack.event("delivered", recipient, application).object()
            #expect((event["devices"] != nil) == (application == "other"), "\(event)")
        }
    }

    @Test("a retirement ends a registration that is older than it, and no newer one")
    func retirement() async throws {
        let stack = try Stack.shared()
        let recipient = stack.recipient()
        let token = "Token-Of-\(recipient)"
        try await stack.register("phone", of: recipient, token: token)
        func gone(_ date: Date) -> TestRecord {
            let time = ISO8601DateFormatter().string(from: date)
            return stack.signal(
                "retirement",
                recipient,
                #"{"application":"shop","device":"phone","token":"\#(token)","gone":"\#(time)"}"#
            )
        }
        _ = try await stack.send([gone(.now - 3600), gone(.now + 60)])
        #expect(try await stack.device("retired", "phone", of: recipient)["reason"] == "unregistered")
        #expect(stack.all(recipient).count { $0.name == "carillon.device.retired" } == 1)
        try await stack.put(recipient, "order")
        #expect(try await stack.event("suppressed", recipient, "order")["reason"] == "no-device")
    }

    @Test("signals that cannot be used become dead letters with reason and field, unchanged")
    func deadLettersOfSignals() async throws {
        let stack = try Stack.shared()
        let recipient = stack.recipient()
        func response(_ text: String) -> TestRecord {
            let members = #""identifier":"order","requestId":"q-1","responseId":"r-1","actionIdentifier":"default""#
            return stack.signal("response", recipient, #"{\#(members),"userText":"\#(text)"}"#)
        }
        let later = ISO8601DateFormatter().string(from: .now + 3600)
        let cases: [(reason: String, field: String, record: TestRecord)] = [
            ("too-large", "userText", response(String(repeating: "x", count: 10_240))),
            ("invalid", "userText", response(#"a\u0007"#)),
            (
                "in-future", "at",
                stack.signal("app-state", recipient, #"{"device":"phone","state":"foreground","at":"\#(later)"}"#)
            ),
            ("in-future", "gone", stack.signal("retirement", recipient, #"{"device":"phone","gone":"\#(later)"}"#)),
            (
                "invalid", "receipt",
                stack.signal(
                    "receipt",
                    recipient,
                    #"{"identifier":"order","requestId":"q-1","device":"phone","receipt":"seen"}"#
                )
            ),
        ]
        let places = try await stack.send(cases.map(\.record))
        for (entry, letter) in zip(cases, try await stack.deadLetters(of: places)) {
            #expect(letter.text("carillon-reason") == entry.reason, "\(entry)")
            #expect(letter.text("carillon-field") == entry.field, "\(entry)")
            #expect(letter.value == entry.record.value, "\(entry)")
        }
    }
}
