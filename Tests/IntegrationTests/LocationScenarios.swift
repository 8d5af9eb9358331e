import Foundation
import Testing

/// Location triggers through both services; most locations come from a Python client that writes to Kafka.
extension ServiceScenarios {
    private static let shop = (latitude: 31.2304, longitude: 121.4737)

    private static func body(_ edges: String, repeats: Bool = false) -> String {
        let region = #"{"latitude":\#(shop.latitude),"longitude":\#(shop.longitude),"radius":200}"#
        return
            #"{"content":{"title":"Near"},"trigger":{"type":"location","region":\#(region),\#(edges),"repeats":\#(repeats)}}"#
    }

    private static func text(_ date: Date) -> String {
        Date.ISO8601FormatStyle(includingFractionalSeconds: true).format(date)
    }

    private static func fix(_ isInside: Bool, at date: Date) -> Data {
        let latitude = shop.latitude + (isInside ? 0 : 0.1)
        let place = #""latitude":\#(latitude),"longitude":\#(shop.longitude),"accuracy":15"#
        return Data(#"{"device":"phone",\#(place),"at":"\#(text(date))"}"#.utf8)
    }

    /// A record as a gateway writes it.
    private func record(
        _ recipient: String,
        _ value: Data,
        shift: Int = 0,
        type: String? = "carillon.signal.location.v1",
        in stack: Stack
    ) -> TestRecord {
        TestRecord(
            topic: stack.cluster.topic("signals"),
            key: recipient,
            value: value,
            headers: type.map { ["ce_specversion": "1.0", "ce_type": $0, "ce_id": UUID().uuidString] } ?? [:],
            recipient: recipient,
            shift: shift
        )
    }

    @Test("when she comes near the shop: locations from a Python client, late ones ignored, in any partition")
    func locationFromPython() async throws {
        let stack = try Stack.shared()
        let recipient = stack.recipient()
        let request = try await stack.put(recipient, "near", Self.body(#""notifyOnEntry":true"#))
        let scheduled = try await stack.event("scheduled", recipient, "near")
        #expect(scheduled["requestId"] == request && scheduled["nextTriggerDate"] == nil)
        let now = Date.now
        // It is in the shop, leaves, was there before (late), and comes back; the last one is in a wrong partition.
        let fixes = [(true, -30.0, 0), (false, -20, 0), (true, -25, 0), (true, -10, 1)]
        _ = try await stack.send(
            fixes.map { record(recipient, Self.fix($0, at: now + $1), shift: $2, in: stack) }
        )
        let delivered = try await stack.event("delivered", recipient, "near")
        #expect(delivered["requestId"] == request && delivered["closes"] == "true")
        #expect(delivered["occurrence"] == Self.text(now - 10))
    }

    @Test("the sides of the boundary outlive the process; the HTTP API and the command line send locations too")
    func locationAfterRestart() async throws {
        let stack = try Stack.shared()
        let recipient = stack.recipient()
        try await stack.put(recipient, "gone", Self.body(#""notifyOnExit":true"#, repeats: true))
        _ = try await stack.event("scheduled", recipient, "gone")
        let address = "\(try await stack.producer.http)/v1/recipients/\(recipient)/locations"
        func post(_ isInside: Bool) async throws {
            let answer = try await Curl.send(
                "POST",
                address,
                headers: [("content-type", "application/json")],
                body: Self.fix(isInside, at: .now)
            )
            #expect(answer.status == 202, "\(answer)")
        }
        try await post(true)
        try await post(false)
        _ = try await stack.event("delivered", recipient, "gone")
        try await post(true)
        await stack.consumer.child.end()
        try await stack.restartConsumer()
        _ = try await ChildProcess.run(
            try Tools.product("carillon"),
            [
                "send", "location", "--recipient", recipient, "--device", "phone", "--latitude", "31.5",
                "--longitude", "121.4737", "--bootstrap-servers", stack.cluster.bootstrapServers,
            ],
            environment: ["CARILLON_TOPICS_PREFIX": stack.cluster.prefix]
        )
        let events = try await stack.events("delivered", recipient, "gone", count: 2)
        #expect(events.count == 2 && events.allSatisfy { $0["closes"] == "false" })
        try await stack.delete(recipient, "gone", state: "pending")
        _ = try await stack.event("cancelled", recipient, "gone")
    }

    @Test("signals that cannot be used become dead letters with reason and field")
    func deadLettersOfSignals() async throws {
        let stack = try Stack.shared()
        let recipient = stack.recipient()
        let good = Self.fix(true, at: .now)
        let cases: [(reason: String, field: String?, record: TestRecord)] = [
            ("in-future", "at", record(recipient, Self.fix(true, at: .now + 3600), in: stack)),
            ("invalid", nil, record(recipient, Data(#"{"device":"d","latitude":NaN}"#.utf8), in: stack)),
            ("invalid", "ce_type", record(recipient, good, type: nil, in: stack)),
            ("unsupported-form", "ce_type", record(recipient, good, type: "carillon.signal.gesture.v1", in: stack)),
            ("unsupported-form", "ce_type", record(recipient, good, type: "carillon.signal.location.v2", in: stack)),
        ]
        let places = try await stack.send(cases.map(\.record))
        for (entry, letter) in zip(cases, try await stack.deadLetters(of: places)) {
            #expect(letter.text("carillon-reason") == entry.reason, "\(entry)")
            if let field = entry.field { #expect(letter.text("carillon-field") == field, "\(entry)") }
            #expect(letter.value == entry.record.value, "\(entry)")
        }
    }
}
