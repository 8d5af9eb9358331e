import Foundation
import Testing

/// Devices as they come and go.
extension DeviceScenarios {
    @Test("a token that is registered for a second recipient leaves the first, and what the phone shows is taken back")
    func movedToken() async throws {
        let stack = try Stack.shared()
        let (first, second) = (stack.recipient("first"), stack.recipient("second"))
        let token = "token-of-\(first)"
        try await stack.register("phone", of: first, token: token)
        try await stack.put(first, "order")
        _ = try await stack.event("delivered", first, "order")
        try await stack.register("new", of: second, token: token)
        let retired = try await stack.device("retired", "phone", of: first)
        #expect(retired["reason"] == "moved")
        #expect(try retired.object()["shows"] as? [String] == ["order"])
        _ = try await stack.event("removed", first, "order")

        try await stack.put(first, "next")
        let suppressed = try await stack.event("suppressed", first, "next")
        #expect(suppressed["reason"] == "no-device" && suppressed["closes"] == "true")
        try await stack.put(second, "next")
        #expect(try names(try await stack.event("delivered", second, "next").object(), "devices", "device") == ["new"])

        // And back again: the phone was handed over twice.
        try await stack.register("back", of: first, token: token)
        #expect(try await stack.device("retired", "new", of: second)["reason"] == "moved")
    }

    @Test("of recipients who register one token at once, one keeps it")
    func tokenAtOnce() async throws {
        let stack = try Stack.shared()
        let recipients = (0..<4).map { _ in stack.recipient("once") }
        let token = "token-of-\(recipients[0])"
        // What the clocks of the phones say decides nothing.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, recipient) in recipients.enumerated() {
                let at = Self.text(Date.now - Double([30, 10, 40, 20][index]))
                group.addTask {
                    try await stack.put("phone", of: recipient, token: token, settings: #","registeredAt":"\#(at)""#)
                }
            }
            try await group.waitForAll()
        }
        let retired = try await stack.deliveries.records(3, "three have lost the token") {
            $0.name == "carillon.device.retired" && recipients.contains($0["recipient"] ?? "")
        }
        let losers = Set(retired.compactMap { $0["recipient"] })
        #expect(retired.allSatisfy { $0["reason"] == "moved" } && losers.count == 3)
        let owner = try #require(recipients.first { !losers.contains($0) })
        try await stack.put(owner, "order")
        _ = try await stack.event("delivered", owner, "order")
        #expect(!stack.all(owner).contains { $0.name == "carillon.device.retired" })
    }

    @Test("an app that gives one time for ever registers again after its end, and gets its token back from another")
    func oneTime() async throws {
        let stack = try Stack.shared()
        let (first, second) = (stack.recipient("first"), stack.recipient("second"))
        let (token, at) = ("token-of-\(first)", Self.text(.now - 3600))
        func put(_ recipient: String) async throws {
            try await stack.put("phone", of: recipient, token: token, settings: #","registeredAt":"\#(at)""#)
        }
        func events(_ name: String, _ count: Int, _ recipient: String) async throws -> [KcatRecord] {
            try await stack.deliveries.records(count, "\(recipient) has \(count) \(name)") {
                $0.name == "carillon.device.\(name)" && $0["recipient"] == recipient
            }
        }
        try await put(first)
        _ = try await events("registered", 1, first)
        _ = try await stack.call("DELETE", "recipients/\(first)/devices/phone")
        _ = try await events("retired", 1, first)
        try await put(first)
        #expect(Set(try await events("registered", 2, first).compactMap { $0["at"] }).count == 2)
        try await stack.put(first, "order")
        #expect(
            try names(try await stack.event("delivered", first, "order").object(), "devices", "device") == ["phone"]
        )

        try await put(second)
        #expect(try await events("retired", 2, first).last?["reason"] == "moved")
        try await put(first)
        #expect(try await events("retired", 1, second).last?["reason"] == "moved")
        try await stack.put(first, "next")
        #expect(try names(try await stack.event("delivered", first, "next").object(), "devices", "device") == ["phone"])
    }

    @Test("registrations that cannot be used become dead letters with reason and field")
    func deadLettersOfRegistrations() async throws {
        let stack = try Stack.shared()
        let recipient = stack.recipient()
        let good = #"{"platform":"fcm","token":"t"}"#
        let cases: [(reason: String, field: String, record: TestRecord)] = [
            ("misrouted", "partition", registration(recipient, "a", good, shift: 1, in: stack)),
            ("invalid", "token", registration(recipient, "a", #"{"platform":"apns","token":"xyz"}"#, in: stack)),
            ("invalid", "token", registration(recipient, "a", #"{"platform":"fcm","token":"a\u0007"}"#, in: stack)),
            (
                "invalid", "platform",
                registration(recipient, "a", #"{"platform":"webpush","token":"t","kind":"voip"}"#, in: stack)
            ),
            (
                "invalid", "timeZone",
                registration(recipient, "a", #"{"platform":"fcm","token":"t","timeZone":"Mars/Base"}"#, in: stack)
            ),
            ("invalid", "platform", registration(recipient, "a", #"{"platform":"A B","token":"t"}"#, in: stack)),
            (
                "invalid", "settings.sound",
                registration(recipient, "a", #"{"platform":"fcm","token":"t","settings":{"sound":1}}"#, in: stack)
            ),
            (
                "in-future", "registeredAt",
                registration(
                    recipient,
                    "a",
                    #"{"platform":"fcm","token":"t","registeredAt":"\#(Self.text(.now + 3600))"}"#,
                    in: stack
                )
            ),
            ("invalid", "key", registration(recipient, "", good, in: stack)),
        ]
        let places = try await stack.send(cases.map(\.record))
        for (entry, letter) in zip(cases, try await stack.deadLetters(of: places)) {
            #expect(letter.text("carillon-reason") == entry.reason, "\(entry)")
            #expect(letter.text("carillon-field") == entry.field, "\(entry)")
            #expect(letter.value == entry.record.value, "\(entry)")
        }
        let letters = try await stack.deadLetters(of: places)
        #expect(letters.allSatisfy { $0.text("kafka_dlt-exception-message")?.contains("xyz") == false })
        #expect(!stack.deliveries.records.contains { $0["recipient"] == recipient })
    }

    @Test("bad input over HTTP is answered with reason and field, and reaches no topic")
    func refused() async throws {
        let stack = try Stack.shared()
        let recipient = stack.recipient()
        try await stack.setCategories()
        let device = "recipients/\(recipient)/devices/phone"
        let response = #""identifier":"order","requestId":"q-1","actionIdentifier":"reply""#
        let receipt = #""identifier":"order","requestId":"q-1","device":"phone""#
        let action = #"{"identifier":"a","title":"A"}"#
        let soon = Self.text(.now + 3600)
        let cases: [(method: String, path: String, body: String, reason: String, field: String)] = [
            ("PUT", device, #"{"platform":"apns","token":"xyz"}"#, "invalid", "token"),
            ("PUT", device, #"{"platform":"fcm","token":"t","kind":"widget"}"#, "invalid", "platform"),
            ("PUT", device, #"{"platform":"fcm","token":"t","timeZone":"Mars/Base"}"#, "invalid", "timeZone"),
            ("PUT", device, #"{"platform":"fcm","token":"t","owner":"ana"}"#, "unknown-field", "owner"),
            ("PUT", device, #"{"platform":"fcm","token":"t","registeredAt":"\#(soon)"}"#, "in-future", "registeredAt"),
            (
                "POST", "recipients/\(recipient)/responses",
                #"{\#(response),"userText":"\#(String(repeating: "x", count: 10_240))"}"#, "too-large", "userText"
            ),
            (
                "POST", "recipients/\(recipient)/responses", #"{\#(response),"userText":"\u0007"}"#, "invalid",
                "userText"
            ),
            ("POST", "recipients/\(recipient)/receipts", #"{\#(receipt),"receipt":"seen"}"#, "invalid", "receipt"),
            ("POST", "recipients/\(recipient)/reports", #"{\#(receipt),"outcome":"lost"}"#, "invalid", "outcome"),
            (
                "POST", "recipients/\(recipient)/app-states",
                #"{"device":"phone","state":"foreground","at":"\#(soon)"}"#, "in-future", "at"
            ),
            (
                "PUT", "categories", #"{"categories":[{"identifier":"A"},{"identifier":"A"}]}"#, "invalid",
                "categories.1.identifier"
            ),
            (
                "PUT", "categories", #"{"categories":[{"identifier":"A","actions":[\#(action),\#(action)]}]}"#,
                "invalid",
                "categories.0.actions.1.identifier"
            ),
            (
                "PUT", "categories", #"{"categories":[{"identifier":"A","options":["loud"]}]}"#, "invalid",
                "categories.0.options.0"
            ),
        ]
        for entry in cases {
            let answer = try await stack.call(entry.method, entry.path, entry.body)
            #expect(answer["reason"] == entry.reason, "\(entry.path): \(answer.text)")
            #expect(answer["field"] == entry.field, "\(entry.path): \(answer.text)")
            #expect(answer.status == (entry.reason == "too-large" ? 413 : 400))
            #expect(!answer.text.contains("xyz"))
        }
        // The categories are those from before.
        let categories = try await stack.call("GET", "categories")
        #expect(categories.status == 200 && categories.text.contains("ORDER"))
    }

    @Test("a thousand devices over Kafka: the last sixteen get the next notification")
    func thousandDevices() async throws {
        let stack = try Stack.shared()
        let recipient = stack.recipient()
        let records = (0..<1_000).map {
            registration(recipient, "phone-\($0)", #"{"platform":"fcm","token":"\#(recipient)-\#($0)"}"#, in: stack)
        }
        #expect(try await stack.send(records).count == 1_000)
        _ = try await stack.device("registered", "phone-999", of: recipient)
        try await stack.put(recipient, "order")
        let event = try await stack.event("delivered", recipient, "order").object()
        #expect(Set(try names(event, "devices", "device")) == Set((984..<1_000).map { "phone-\($0)" }))
        #expect(try await stack.device("retired", "phone-0", of: recipient)["reason"] == "capped")
    }

    @Test("a notification that was sent while the consumer service was down reaches the device registered before it")
    func backlog() async throws {
        let stack = try Stack.shared()
        let recipients = (0..<12).map { _ in stack.recipient() }
        stack.consumer.child.signal(SIGTERM)
        #expect(try await stack.consumer.child.ended() == 0, "\(stack.consumer.child.lastWords)")
        for recipient in recipients {
            try await stack.put("phone", of: recipient, token: "\(recipient)/phone")
            try await stack.put(recipient, "order")
        }
        try await stack.restartConsumer()
        for recipient in recipients {
            let delivered = try await stack.event("delivered", recipient, "order")
            #expect(try names(delivered.object(), "devices", "device") == ["phone"])
        }
    }

    @Test("the query API and carillon device list show what a recipient has, also after a restart")
    func listed() async throws {
        let stack = try Stack.shared()
        let recipient = stack.recipient()
        func ask(_ device: String = "") async throws -> HTTPAnswer {
            let port = try await stack.consumer.port("query API listens")
            let target = "/v1/recipients/\(recipient)/devices\(device)?application=shop"
            return try await Curl.send("GET", "http://127.0.0.1:\(port)\(target)")
        }
        #expect(try await ask().text == #"{"devices":[]}"#)
        try await stack.register("pad", of: recipient)
        try await stack.register(
            "phone",
            of: recipient,
            settings:
                #","timeZone":"Asia/Shanghai","authorizationStatus":"provisional","settings":{"sound":"disabled"}"#
        )
        try await stack.put(recipient, "order", #"{"content":{"title":"T","badge":7}}"#)
        _ = try await stack.event("delivered", recipient, "order")
        await stack.consumer.child.end()
        try await stack.restartConsumer()
        let devices = try await ask()
        #expect(devices.status == 200)
        let found = try #require(JSONText.object(devices.body))
        #expect(Set(try names(found, "devices", "device")) == ["pad", "phone"], "\(devices.text)")
        let phone = try await ask("/phone")
        #expect(phone.status == 200 && phone["timeZone"] == "Asia/Shanghai" && phone["settings.sound"] == "disabled")
        #expect(try await ask("/other").status == 404)

        let carillon = CarillonCommand(cluster: stack.cluster)
        let url = "http://127.0.0.1:\(try await stack.consumer.port("query API listens"))"
        let list = try await carillon.run(
            "device",
            "list",
            "--recipient",
            recipient,
            "--application",
            "shop",
            "--url",
            url
        )
        #expect(list.status == 0 && list.lines.count == 2, "\(list)")
        let line = try #require(list.lines.first { $0.hasPrefix("phone") }, "\(list)")
        for word in ["fcm", "provisional", "without sound", "Asia/Shanghai"] { #expect(line.contains(word), "\(line)") }
        #expect(!list.output.contains("\(recipient)/phone"), "no tokens")

        _ = try await stack.call("DELETE", "recipients/\(recipient)/devices/pad")
        _ = try await stack.device("retired", "pad", of: recipient)
        #expect(try await ask("/pad")["retiredAt"] != nil)
        #expect(try await ask("/phone")["retiredAt"] == nil)
    }

    private static func text(_ date: Date) -> String {
        Date.ISO8601FormatStyle(includingFractionalSeconds: true).format(date)
    }

    private func registration(
        _ recipient: String,
        _ device: String,
        _ value: String,
        shift: Int = 0,
        in stack: Stack
    ) -> TestRecord {
        TestRecord(
            topic: stack.cluster.topic("devices"),
            key: "shop/\(recipient)/\(device)",
            value: Data(value.utf8),
            recipient: recipient,
            shift: shift
        )
    }
}
