import NotificationModel
import Testing

@testable import NotificationProducer

@Suite("Rules applied to events")
struct RuleEngineTests {
    private static let shop = """
        rules:
          - event: com.example.order.shipped
            when: "{{data.notify}}"
            recipient: "{{data.customer}}"
            identifier: "order-{{data.order}}"
            content: {title: "On its way", body: "Order {{data.order}} has shipped.", categoryIdentifier: ORDER}
            trigger: {type: timeInterval, timeInterval: 60}
          - event: com.example.order.cancelled
            recipient: "{{data.customer}}"
            cancel: "order-{{data.order}}"
        """

    @Test("An event becomes the request its rule describes")
    func request() throws {
        let event = BusinessEvent.sample(data: #"{"notify":true,"customer":"user-42","order":1001}"#)
        let (outputs, failures) = Rules.apply(try Rules.engine(Self.shop), event)
        let output = try #require(outputs.first)
        #expect(failures.isEmpty)
        #expect(outputs.count == 1)
        #expect(output.key.description == "shop/user-42/order-1001")
        #expect(!output.isRemoval)
        #expect(
            String(decoding: output.value, as: UTF8.self)
                == #"{"requestId":"\#(output.requestID)","application":"shop","recipient":"user-42","identifier":"order-1001","#
                + #""content":{"title":"On its way","body":"Order 1001 has shipped.","categoryIdentifier":"ORDER"},"#
                + #""trigger":{"type":"timeInterval","timeInterval":60}}"#
        )
    }

    @Test(
        "A cancelling rule becomes a removal, with scope all by default",
        arguments: [
            ("", RemovalScope.all), ("state: pending", .pending), ("state: delivered", .delivered),
            ("state: all", .all),
        ]
    )
    func cancel(state: String, scope: RemovalScope) throws {
        let event = BusinessEvent.sample(
            type: "com.example.order.cancelled",
            data: #"{"customer":"user-42","order":"1001"}"#
        )
        let (outputs, _) = Rules.apply(try Rules.engine(Self.shop + "\n    " + state), event)
        let output = try #require(outputs.first)
        #expect(output.isRemoval)
        guard case .removal(let removal) = try RequestRecord.scan(output.value, key: output.key) else {
            Issue.record("not a removal")
            return
        }
        #expect(removal.scope == scope)
        #expect(removal.requestID == output.requestID)
    }

    @Test("No rule for the type and a `when` that does not hold are different outcomes")
    func outcomes() throws {
        let engine = try Rules.engine(Self.shop)
        guard case .noRule = engine.apply(to: .sample(type: "com.example.other", data: "{}")) else {
            Issue.record("expected no rule")
            return
        }
        guard case .skipped = engine.apply(to: .sample(data: #"{"notify":false,"customer":"c"}"#)) else {
            Issue.record("expected skipped")
            return
        }
    }

    @Test("One rule's failure does not suppress another's request")
    func independent() throws {
        let engine = try Rules.engine(
            """
            rules:
              - {event: com.example.order.shipped, name: a, recipient: "{{data.nobody}}", cancel: "x"}
              - {event: com.example.order.shipped, name: b, recipient: "{{data.customer}}", cancel: "x"}
            """
        )
        let (outputs, failures) = Rules.apply(engine, .sample(data: #"{"customer":"c"}"#))
        #expect(outputs.map(\.key.recipient) == ["c"])
        #expect(failures.map(\.rule) == ["a"])
        #expect(failures.first?.error.reason == .missingVariable)
        #expect(failures.first?.error.field == "data.nobody")
    }

    @Test(
        "The result of a rule is validated as any request",
        arguments: [
            (#"{"customer":"","order":1}"#, ReasonCode.invalid, "recipient"),
            (#"{"customer":"c","order":null}"#, .missingVariable, "data.order"),
            (#"{"customer":"c\u0000d","order":1}"#, .invalid, "recipient"),
            (#"{"customer":["c"],"order":1}"#, .invalid, "data.customer"),
            (#"{"customer":"c","order":1"#, .invalid, "data"),
            (#"not json"#, .invalid, "data"),
        ]
    )
    func refused(data: String, reason: ReasonCode, field: String) throws {
        let engine = try Rules.engine(
            "rules: [{event: com.example.order.shipped, recipient: \"{{data.customer}}\", identifier: \"{{data.order}}\", content: {body: x}}]"
        )
        let error = try #require(Rules.apply(engine, .sample(data: data)).failures.first).error
        #expect(error.reason == reason)
        #expect(error.field == field)
    }

    @Test(
        "An empty identifier is refused, also where it would cancel everything",
        arguments: ["identifier", "cancel"]
    )
    func emptyIdentifier(key: String) throws {
        let content = key == "identifier" ? ", content: {body: x}" : ""
        let engine = try Rules.engine(
            "rules: [{event: com.example.order.shipped, recipient: r, \(key): \"{{data.order}}\"\(content)}]"
        )
        let error = try #require(Rules.apply(engine, .sample(data: #"{"order":""}"#)).failures.first).error
        #expect(error.reason == .invalid)
        #expect(error.field == "identifier")
    }

    @Test("A single variable keeps its JSON type where any type is allowed")
    func types() throws {
        let engine = try Rules.rule(
            """
            content:
              title: "{{data.count}}"
              badge: "{{data.count}}"
              mutableContent: "{{data.flag}}"
              relevanceScore: 0.25
              sound: "{{data.sound}}"
              attachments: "{{data.attachments}}"
              userInfo: {count: "{{data.count}}", text: "n {{data.count}}", all: "{{data.nested}}", none: ~, plain: [1, 0x10, 2.50, yes, "1"]}
            trigger: {type: timeInterval, timeInterval: "{{data.seconds}}", repeats: "{{data.flag}}"}
            """
        )
        let data =
            #"{"count":3,"flag":true,"sound":{"name":"bell.caf","volume":0.5},"attachments":[],"nested":{"a":[null]},"seconds":60.0}"#
        let request = try Rules.request(engine, .sample(data: data))
        #expect(request.value(at: "content.title") == .string("3"))
        #expect(request.value(at: "content.badge") == .number("3"))
        #expect(request.value(at: "content.mutableContent") == .bool(true))
        #expect(request.value(at: "content.sound.name") == .string("bell.caf"))
        #expect(request.value(at: "content.attachments") == .array([]))
        #expect(request.value(at: "content.userInfo.count") == .number("3"))
        #expect(request.value(at: "content.userInfo.text") == .string("n 3"))
        #expect(request.value(at: "content.userInfo.all.a") == .array([.null]))
        #expect(request.value(at: "content.userInfo.none") == .null)
        #expect(
            request.value(at: "content.userInfo.plain")
                == .array([.number("1"), .number("16"), .number("2.50"), .bool(true), .string("1")])
        )
        #expect(request.value(at: "trigger.timeInterval") == .number("60.0"))
        #expect(request.value(at: "trigger.repeats") == .bool(true))
    }

    @Test(
        "A variable of the wrong type is refused with its field",
        arguments: [
            (#"{"v":"3"}"#, "content.badge"), (#"{"v":-1}"#, "content.badge"), (#"{"v":1.5}"#, "content.badge"),
            (#"{"v":null}"#, "content.badge"),
            (#"{"v":{}}"#, "content.badge"),
        ]
    )
    func wrongType(data: String, field: String) throws {
        let engine = try Rules.rule("content: {body: x, badge: \"{{data.v}}\"}")
        let error = try #require(Rules.apply(engine, .sample(data: data)).failures.first).error
        #expect(error.reason == .invalid)
        #expect(error.field == field)
    }

    @Test("A location trigger from variables is checked as in a request")
    func locationTrigger() throws {
        let engine = try Rules.rule(
            "content: {body: x}\ntrigger: {type: location, "
                + "region: {latitude: \"{{data.latitude}}\", longitude: 1, radius: 1}, notifyOnEntry: true}"
        )
        let output = try #require(Rules.apply(engine, .sample(data: #"{"latitude":31.5}"#)).outputs.first)
        #expect(String(decoding: output.value, as: UTF8.self).contains(#""latitude":31.5"#))
        let error = try #require(Rules.apply(engine, .sample(data: #"{"latitude":91}"#)).failures.first).error
        #expect(error.reason == .invalid)
        #expect(error.field == "trigger.region.latitude")
    }

    @Test("Every content property can be written in a rule")
    func everyProperty() throws {
        let engine = try Rules.rule(
            """
            application: "app-{{data.app}}"
            expiration: "{{data.until}}"
            content:
              title: t
              subtitle: s
              body: b
              titleLocalization: {key: K, arguments: ["{{data.app}}", "2"]}
              subtitleLocalization: {key: K}
              bodyLocalization: {key: K, arguments: "{{data.arguments}}"}
              badge: 0
              sound: {name: bell.caf, critical: true, volume: 0.8}
              categoryIdentifier: c
              threadIdentifier: t
              launchImageName: l
              targetContentIdentifier: tc
              interruptionLevel: timeSensitive
              relevanceScore: 0.5
              filterCriteria: f
              mutableContent: true
              attachments:
                - identifier: photo
                  url: "https://cdn.example.com/{{data.app}}.jpg"
                  options:
                    typeHint: public.jpeg
                    thumbnailHidden: false
                    thumbnailClippingRect: {x: 0, y: 0, width: 1, height: 0.5}
                    thumbnailTime: 0
              userInfo: {a: {b: [c]}}
            """
        )
        let data = #"{"app":1,"arguments":["x"],"until":"2026-12-01T09:00:00.000Z"}"#
        let request = try Rules.request(engine, .sample(data: data))
        #expect(request.value(at: "application") == .string("app-1"))
        #expect(request.value(at: "expiration") == .string("2026-12-01T09:00:00.000Z"))
        #expect(request.value(at: "content.attachments.0.url") == .string("https://cdn.example.com/1.jpg"))
        #expect(request.value(at: "content.bodyLocalization.arguments") == .array([.string("x")]))
    }

    @Test("The request id depends on the event, the rule and the key only")
    func derivedIDs() throws {
        let engine = try Rules.engine(Self.shop)
        func id(_ event: BusinessEvent, _ engine: RuleEngine) throws -> RequestID {
            try #require(Rules.apply(engine, event).outputs.first).requestID
        }
        let data = #"{"notify":1,"customer":"c","order":1}"#
        let first = try id(.sample(data: data), engine)
        #expect(
            try id(
                .sample(subject: "other", extensions: ["a": "b"], data: #"{"notify":2,"customer":"c","order":1}"#),
                engine
            ) == first
        )
        #expect(try id(.sample(id: "e2", data: data), engine) != first)
        #expect(try id(.sample(source: "/shop2", data: data), engine) != first)
        #expect(try id(.sample(data: #"{"notify":1,"customer":"d","order":1}"#), engine) != first)
        let more =
            "rules:\n  - {event: com.example.new, recipient: r, cancel: i}\n" + Self.shop.dropFirst("rules:\n".count)
        #expect(try id(.sample(data: data), try Rules.engine(more)) == first)
    }
}
