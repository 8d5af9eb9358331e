import NotificationModel
import NotificationState
import Testing

@Suite("Delivery events")
struct DeliveryEventTests {
    private let key: NotificationKey
    private let id: RequestID

    init() throws {
        key = try NotificationKey(application: "shop", recipient: "ana/1", identifier: "order-1001")
        id = try RequestID(text: "0d8f8a5e-3b0c-5d53-9f57-6f6f0a4f2a11")
    }

    @Test("an event is written in the contract's field order, with its content unchanged")
    func written() throws {
        let source = bytes("xx{ \"title\" : \"t\" }xx")
        var event = DeliveryEvent(name: .delivered, requestID: id, key: key, closes: true)
        event.occurrence = Timestamp(rawValue: 1_795_251_600_000)
        event.replaces = try RequestID(text: "a\"b")
        event.channel = "events"
        event.content = source[2..<19]
        event.inDoubt = true
        #expect(
            text(event.json) == #"{"requestId":"0d8f8a5e-3b0c-5d53-9f57-6f6f0a4f2a11","application":"shop","#
                + #""recipient":"ana/1","identifier":"order-1001","closes":true,"#
                + #""occurrence":"2026-11-21T09:00:00.000Z","replaces":"a\"b","channel":"events","#
                + #""content":{ "title" : "t" },"inDoubt":true}"#
        )
        var reused = bytes("kept")
        event.write(to: &reused)
        #expect(reused == bytes("kept") + event.json)
    }

    @Test("event ids match another implementation, and differ by occurrence, name and device")
    func ids() throws {
        var event = DeliveryEvent(name: .delivered, requestID: id, key: key, closes: true)
        event.occurrence = Timestamp(rawValue: 1_795_251_600_000)
        var out: [UInt8] = []
        event.writeEventID(to: &out)
        #expect(text(out) == "dd6a0092-cc9a-545c-bf02-9d001cfcb694")
        var attempt = DeliveryEvent(
            name: .deviceAttempted,
            requestID: try RequestID(text: "not a uuid"),
            key: key,
            closes: false
        )
        attempt.device = "iphone-1"
        #expect(attempt.eventID.description == "702b3728-2bcc-5e89-840e-865ddebd6195")
        var seen: Set<UUIDValue> = []
        for name in DeliveryEventName.allCases {
            for occurrence in [nil, Timestamp(rawValue: 0), Timestamp(rawValue: -1), Timestamp(rawValue: .min)] {
                for device in [nil, "a", "b"] {
                    var event = DeliveryEvent(name: name, requestID: id, key: key, closes: true)
                    event.occurrence = occurrence
                    event.device = device
                    seen.insert(event.eventID)
                }
            }
        }
        #expect(seen.count == DeliveryEventName.allCases.count * 12)
    }

    @Test("every name maps to its type, and the type to its name", arguments: DeliveryEventName.allCases)
    func types(_ name: DeliveryEventName) {
        #expect(name.type.description == "carillon.notification.\(name.rawValue).v1")
        #expect(DeliveryEventName(type: name.type.description) == name)
        #expect(DeliveryEventName(type: bytes(name.type.description)) == name)
    }

    @Test(
        "other types are not delivery events",
        arguments: [
            "", "carillon.notification..v1", "carillon.notification.v1", "carillon.notification.request.v1",
            "delivered", "carillon.notification.delivered.v2",
        ]
    )
    func otherTypes(_ type: String) {
        #expect(DeliveryEventName(type: type) == nil)
    }
}

@Suite("Markers and reasons")
struct MarkerTests {
    @Test("a marker reads back equal, and a newer form is refused")
    func marker() throws {
        let marker = StateMarker(
            offsets: ["b": 2, "a": .max],
            wallTime: Timestamp(rawValue: 1_795_251_600_000),
            partitions: 8,
            timeZoneDataVersion: "2025b",
            firedThrough: Timestamp(rawValue: 1_795_251_601_000)
        )
        #expect(try StateMarker(json: marker.json) == marker)
        #expect(text(marker.json).hasPrefix(#"{"form":1,"offsets":{"a":9223372036854775807,"b":2},"#))
        let newer = text(marker.json).replacing("\"form\":1", with: "\"form\":99")
        #expect(failure { () throws(ModelError) in try StateMarker(json: bytes(newer)) }?.reason == .unsupportedForm)
        let wider = text(marker.json).replacing("{\"form\"", with: "{\"later\":[1],\"form\"")
        #expect(try StateMarker(json: bytes(wider)) == marker)
    }

    @Test("the reason codes are the contract's list with its additions")
    func reasons() {
        let contract = """
            invalid unknown-field unknown-trigger too-large not-utf8 misrouted in-future no-rule missing-variable gap \
            unsupported-form not-authorized disabled no-device capped unregistered payload-too-large rejected gave-up not-enriched \
            moved replaced unknown-action collapse-window quiet-hours digest too-many-recipients not-found method-not-allowed unsupported-media-type \
            unauthenticated forbidden receive-timeout overloaded unavailable internal
            """
        #expect(ReasonCode.allCases.map(\.rawValue).joined(separator: " ") == contract)
    }
}
