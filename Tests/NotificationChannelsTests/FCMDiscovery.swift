import Foundation
import NotificationModel
import Testing

/// Google's description of FCM's interface: the schemas of its discovery document, without texts. A test with processes compares
/// them with the package `google-api-python-client`.
enum FCMDiscovery {
    private static let schemas: JSONValue? = {
        guard
            let file = Bundle.module.url(
                forResource: "fcm-v1-discovery",
                withExtension: "json",
                subdirectory: "Fixtures"
            ),
            let data = try? Data(contentsOf: file)
        else { return nil }
        return try? JSONValue.parse(Array(data))["schemas"]
    }()

    /// What of a body is not as the document says; empty for a right one.
    static func problems(_ body: [UInt8]) throws -> [String] {
        _ = try #require(schemas)
        return problems(try JSONValue.parse(body), ["$ref": "SendMessageRequest"], "")
    }

    private static func problems(_ value: JSONValue, _ names: [String: String], _ path: String) -> [String] {
        guard let name = names["$ref"], let schema = schemas?[name] else { return ["\(path): no schema"] }
        return problems(value, schema, path)
    }

    private static func problems(_ value: JSONValue, _ schema: JSONValue, _ path: String) -> [String] {
        if let reference = schema["$ref"]?.stringValue { return problems(value, ["$ref": reference], path) }
        switch schema["type"]?.stringValue {
        case "object":
            guard let members = value.objectValue else { return ["\(path): must be an object"] }
            let (known, others) = (schema["properties"], schema["additionalProperties"])
            var problems: [String] =
                Set(members.map(\.name)).count == members.count ? [] : ["\(path): a name is there twice"]
            for member in members {
                let place = path.isEmpty ? member.name : "\(path).\(member.name)"
                guard let own = known?[member.name] ?? others else {
                    problems.append("\(place): is unknown")
                    continue
                }
                problems += self.problems(member.value, own, place)
            }
            return problems
        case "array":
            guard let values = value.arrayValue, let items = schema["items"] else {
                return ["\(path): must be an array"]
            }
            return values.flatMap { problems($0, items, "\(path)[]") }
        case "string":
            guard let text = value.stringValue else { return ["\(path): must be a text"] }
            if let choices = schema["enum"]?.arrayValue, !choices.contains(.string(text)) {
                return ["\(path): is none of its choices"]
            }
            if schema["format"]?.stringValue == "google-duration", text.wholeMatch(of: /[0-9]+s/) == nil {
                return ["\(path): must be seconds"]
            }
            return []
        case "boolean": return value.boolValue == nil ? ["\(path): must be a boolean"] : []
        case "integer":
            return value.integerValue.flatMap(Int32.init(exactly:)) == nil
                ? ["\(path): must be a number of 32 bits"] : []
        case "any": return []
        case let type: return ["\(path): the test does not know the type \(type ?? "none")"]
        }
    }
}

@Suite("The discovery document of FCM")
struct FCMDiscoveryTests {
    @Test(arguments: [
        #"{"message":{"token":"t","android":{"priority":"URGENT"}}}"#, #"{"message":{"token":"t","data":{"a":1}}}"#,
        #"{"message":{"token":"t","android":{"ttl":"1.5"}}}"#, #"{"message":{"token":"t","tag":"x"}}"#,
        #"{"message":{"token":"t","android":{"notification":{"notificationCount":3000000000}}}}"#,
        #"{"message":{"token":"t","android":{"notification":{"id":1}}}}"#,
    ])
    func `refuses what FCM would refuse`(_ body: String) throws {
        #expect(try !FCMDiscovery.problems(Array(body.utf8)).isEmpty)
    }
}
