import Foundation
import NotificationModel
import NotificationState
import Testing

/// The examples of the page of contracts: each is read by the model, and fits its schema.
@Suite("The contracts by example", .timeLimit(.minutes(10)))
struct ContractsTests {
    /// A block of JSON, and the comment above it.
    private struct Example {
        var json: String
        var schema: String
        var key: String?
        var name: String?

        static func all() throws -> [Example] {
            let text = try Page.contracts().text
            let examples = try text.matches(of: /<!-- (.+) -->\n```json\n((?:.+\n)+)```\n/).map { match in
                var said: [String: String] = [:]
                for part in match.1.split(separator: "; ") {
                    let pair = part.components(separatedBy: ": ")
                    try #require(pair.count == 2, "\(part)")
                    said[pair[0]] = pair[1]
                }
                let schema = try #require(said["schema"])
                return Example(json: String(match.2), schema: schema, key: said["key"], name: said["name"])
            }
            // None without its comment.
            try #require(examples.count == text.components(separatedBy: "```json\n").count - 1)
            return examples
        }

        func notificationKey() throws -> NotificationKey { try NotificationKey(encoded: Array(#require(key).utf8)) }
    }

    @Test("the model reads every example")
    func codec() throws {
        var names: Set<DeliveryEventName> = []
        for example in try Example.all() {
            let json = Array(example.json.utf8)
            switch example.schema {
            case "request", "removal":
                let record = try RequestRecord.scan(json, key: example.notificationKey())
                if case .removal = record {
                    #expect(example.schema == "removal", "\(example.json)")
                } else {
                    #expect(example.schema == "request", "\(example.json)")
                }
            case "request-body":
                _ = try RequestRecord.scan(body: json, key: example.notificationKey())
            case "trigger":
                _ = try RequestRecord.scan(request(with: example), key: NotificationKey(encoded: Array("a/r/i".utf8)))
            case "delivery-event":
                let text = try #require(example.name)
                let name = try #require(DeliveryEventName(rawValue: text))
                names.insert(name)
                let event = try DeliveryEvent(json: json, name: name)
                #expect(try JSONValue.parse(event.json) == JSONValue.parse(json), "\(example.json)")
            case "business-event":
                let type = Array("application/cloudevents+json".utf8)
                _ = try BusinessEvent(kafkaHeaders: [("content-type", type)], value: json)
            case "state-entry":
                _ = try StateEntry(json: json, zones: TimeZoneDatabase.system.get())
            case "state-marker":
                _ = try StateMarker(json: json)
            case "device": _ = try DeviceRegistration(json: json)
            case "device-event": _ = try DeviceEvent(json: json, name: .retired)
            case "channel-event": _ = try ChannelEvent(json: json, name: .stopped)
            case "token-claim": _ = try TokenClaim(json: json)
            case "response-event": _ = try ResponseEvent(json: json)
            case "signals":
                #expect(SignalType.allCases.contains { (try? Signal($0, json: json)) != nil }, "\(example.json)")
            case "categories":
                _ = try JSONValue.parse(json)
            default:
                Issue.record("\(example.schema) is no schema")
            }
        }
        #expect(names == Set(DeliveryEventName.allCases))
    }

    private func request(with trigger: Example) -> [UInt8] {
        Array(#"{"content": {"title": "t"}, "trigger": \#(trigger.json)}"#.utf8)
    }

    @Test("every example fits its JSON Schema, and every schema has one")
    func schemas() async throws {
        let examples = try Example.all()
        let lines = try examples.map { example in
            let (schema, json) =
                example.schema == "trigger"
                ? ("request", request(with: example)) : (example.schema, Array(example.json.utf8))
            return try JSONSerialization.data(
                withJSONObject: ["schema": schema, "json": String(decoding: json, as: UTF8.self)]
            )
        }
        let schemas = Tools.package.appendingPathComponent("Sources/NotificationModel/Schemas").path
        let answer = try await ChildProcess.run(
            try Tools.python(),
            [Tools.client("schemas.py"), schemas],
            input: Data(lines.joined(separator: Data("\n".utf8)))
        )
        #expect(answer.outputLines == ["\(examples.count)"])
        #expect(Set(examples.map(\.schema)).subtracting(["trigger"]) == Set(ModelSchema.allCases.map(\.rawValue)))
    }

    @Test("the table of delivery events names each of them once")
    func events() throws {
        let named = try Page.contracts().table(under: "Delivery event").map { row in
            try #require(row[1].firstMatch(of: /`([^`]+)`/).map { String($0.1) }, "\(row)")
        }
        #expect(named.sorted() == DeliveryEventName.allCases.map(\.rawValue).sorted())
    }
}
