import Foundation
import NotificationModel
import NotificationState
import Testing

@Suite("Golden fixtures")
struct FixtureTests {
    /// Reads a fixture with the codec of its schema; false if it has no codec yet.
    private func read(_ fixture: Fixture) throws -> Bool {
        var json = try fixture.contents()
        switch fixture.schema {
        case "request", "removal":
            let received = try RequestRecord.receive(&json, key: fixture.notificationKey())
            if case .removal = received.record { #expect(fixture.schema == "removal") }
        case "request-body":
            _ = try RequestRecord.receive(body: &json, key: fixture.notificationKey())
        case "delivery-event":
            let name = try fixture.eventName()
            _ = try DeliveryEvent(json: json, name: name)
        case "business-event":
            _ = try BusinessEvent(
                kafkaHeaders: [("content-type", bytes("application/cloudevents+json"))],
                value: json
            )
        case "state-marker":
            _ = try StateMarker(json: json)
        case "state-entry" where fixture.file.contains("recipient") || fixture.file.contains("removals"):
            let record = try RecipientRecord(json: json)
            #expect(try RecipientRecord(json: record.json) == record)
        case "state-entry":
            // Reading and writing reproduces the bytes, and reading them again the value.
            let entry = try StateEntry(json: json)
            // What an older version says of its sends becomes a screen when a center takes the entry over.
            #expect(try entry.former != nil || StateEntry(json: entry.json) == entry)
            #expect(try StateEntry.head(of: entry.json).due == entry.storedDue)
        case "signals":
            let type = try #require(fixture.name.flatMap(SignalType.init(rawValue:)))
            let signal = try Signal(type, json: json)
            #expect(signal.type == type)
            #expect(try Signal(type, json: signal.json) == signal)
        case "device":
            let device = try DeviceRegistration(json: json)
            #expect(try DeviceRegistration(json: device.json) == device)
        case "response-event":
            let event = try ResponseEvent(json: json)
            #expect(try JSONValue.parse(event.json) == JSONValue.parse(json))
        case "device-event":
            let event = try DeviceEvent(
                json: json,
                name: #require(fixture.name.flatMap(DeviceEvent.Name.init(rawValue:)))
            )
            #expect(try JSONValue.parse(event.json) == JSONValue.parse(json))
        case "channel-event":
            let event = try ChannelEvent(json: json, name: .stopped)
            #expect(try JSONValue.parse(event.json) == JSONValue.parse(json))
        case "token-claim":
            let claim = try TokenClaim(json: json)
            #expect(try JSONValue.parse(claim.json) == JSONValue.parse(json))
        case "categories":
            let set = try CategorySet(json: json)
            #expect(try CategorySet(json: set.json) == set)
            // Without the actions of earlier sets it is the body of a call.
            #expect(try CategorySet(body: set.bodyJSON).categories == set.categories)
        default:
            _ = try JSONValue.parse(json)
            return false
        }
        return true
    }

    @Test("the codec accepts every valid fixture", arguments: try Fixture.all().filter(\.isValid))
    func valid(_ fixture: Fixture) throws {
        _ = try read(fixture)
    }

    @Test(
        "the codec refuses every invalid fixture with its reason and field",
        arguments: try Fixture.all().filter { !$0.isValid }
    )
    func invalid(_ fixture: Fixture) throws {
        do {
            let hasCodec = try read(fixture)
            #expect(!hasCodec, "accepted")
        } catch let error as ModelError {
            #expect(error.reason.rawValue == fixture.reason, "\(error)")
            #expect(error.field == fixture.field, "\(error)")
            #expect(!error.detail.isEmpty)
        }
    }

    @Test("the index and the files of the fixtures match")
    func index() throws {
        let listed = Set(try Fixture.all().map(\.file))
        var found: Set<String> = []
        for kind in ["valid", "invalid"] {
            let folder = try Fixture.folder().appendingPathComponent(kind)
            for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
                found.insert(kind + "/" + name)
            }
        }
        #expect(listed == found)
    }

    @Test(
        "a valid request keeps its meaning when it is read and written",
        arguments: try Fixture.all().filter { $0.isValid && $0.schema == "request" }
    )
    func roundTrip(_ fixture: Fixture) throws {
        let key = try fixture.notificationKey()
        let request = try NotificationRequest(json: fixture.contents(), key: key)
        let again = try NotificationRequest(json: request.json, key: key)
        #expect(again == request)
        #expect(
            try JSONDecoder().decode(NotificationRequest.self, from: JSONEncoder().encode(request)).trigger
                == request.trigger
        )
    }

    @Test(
        "a delivery event is written exactly as it was read",
        arguments: try Fixture.all().filter { $0.isValid && $0.schema == "delivery-event" }
    )
    func event(_ fixture: Fixture) throws {
        let name = try fixture.eventName()
        let event = try DeliveryEvent(json: fixture.contents(), name: name)
        let again = try DeliveryEvent(json: event.json, name: name)
        #expect(again == event)
        let before = try JSONValue.parse(try fixture.contents()).objectValue?.filter { $0.name != "future" }
        #expect(try JSONValue.parse(event.json).objectValue == before)
    }

    @Test("the contract's example goes through the typed structs without losing a field")
    func complete() throws {
        let fixture = try #require(try Fixture.all().first { $0.file == "valid/request-full.json" })
        let json = try fixture.contents()
        let request = try NotificationRequest(json: json, key: fixture.notificationKey())
        #expect(try JSONValue.parse(request.json) == JSONValue.parse(json))
    }
}

@Suite("JSON Schemas")
struct SchemaTests {
    @Test(
        "every schema is JSON of draft 2020-12 with a title, and is readable from the module",
        arguments: ModelSchema.allCases
    )
    func parses(_ schema: ModelSchema) throws {
        let value = try JSONValue.parse(try schema.json())
        #expect(value["$schema"]?.stringValue == "https://json-schema.org/draft/2020-12/schema")
        #expect(value["$id"]?.stringValue == "urn:carillon:schema:\(schema.rawValue):v1")
        #expect(value["title"]?.stringValue?.isEmpty == false)
    }

    @Test("the request schema has exactly the fields of the scan")
    func fields() throws {
        let schema = try JSONValue.parse(try ModelSchema.request.json())
        let key = try NotificationKey(application: "shop", recipient: "u", identifier: "i")
        for (path, wrap) in [
            ("properties", "%"), ("$defs.content.properties", #"{"content":{%}}"#),
            (
                "$defs.dateComponents.properties",
                #"{"content":{"title":"t"},"trigger":{"type":"calendar","dateComponents":{%}}}"#
            ),
        ] {
            for member in try #require(schema.value(at: path)?.objectValue) {
                let json =
                    wrap == "%"
                    ? "{\"\(member.name)\":[]}" : wrap.replacingOccurrences(of: "%", with: "\"\(member.name)\":[]")
                let error = failure { () throws(ModelError) in try RequestRecord.scan(bytes(json), key: key) }
                if member.name != "attachments" { #expect(error?.reason == .invalid, "\(member.name)") }
            }
        }
    }

    @Test("the schemas contain every reason code")
    func reasons() throws {
        let schema = try JSONValue.parse(try ModelSchema.deliveryEvent.json())
        let codes = schema.value(at: "$defs.reason.enum")?.arrayValue?.compactMap(\.stringValue)
        #expect(codes == ReasonCode.allCases.map(\.rawValue))
    }
}
