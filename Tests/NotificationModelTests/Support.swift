import Foundation
import NotificationModel
import NotificationState
import Testing

/// The bytes of a text.
func bytes(_ text: String) -> [UInt8] {
    Array(text.utf8)
}

/// The text of bytes.
func text(_ bytes: some Sequence<UInt8>) -> String {
    String(decoding: Array(bytes), as: UTF8.self)
}

/// The error that the closure throws, or nil.
func failure<Value, Failure: Error>(of work: () throws(Failure) -> Value) -> Failure? {
    do throws(Failure) {
        _ = try work()
        return nil
    } catch {
        return error
    }
}

/// One golden fixture and its expected result.
struct Fixture: Codable, Sendable, CustomTestStringConvertible {
    let file: String
    let schema: String
    let key: String?
    let name: String?
    let reason: String?
    let field: String?
    /// Whether a schema accepts an input that the codec refuses.
    let schemaAccepts: Bool?

    var testDescription: String { file }
    var isValid: Bool { reason == nil }

    static func folder() throws -> URL {
        try #require(Bundle.module.url(forResource: "Fixtures", withExtension: nil))
    }

    static func all() throws -> [Fixture] {
        let index = try Data(contentsOf: folder().appendingPathComponent("index.json"))
        return try JSONDecoder().decode([Fixture].self, from: index)
    }

    func contents() throws -> [UInt8] {
        Array(try Data(contentsOf: Fixture.folder().appendingPathComponent(file)))
    }

    func eventName() throws -> DeliveryEventName {
        let name = try #require(name)
        return try #require(DeliveryEventName(rawValue: name))
    }

    func notificationKey() throws -> NotificationKey {
        try NotificationKey(encoded: bytes(#require(key)))
    }
}

extension StateEntry {
    /// Reads an entry with the system's time zones.
    init(json: [UInt8]) throws(ModelError) {
        try self.init(json: json, zones: try? TimeZoneDatabase.system.get())
    }
}
