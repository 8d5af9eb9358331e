import ArgumentParser
import Foundation
import Logging
import NotificationModel
import Testing

@testable import Kafka
@testable import carillon

/// A file that is deleted with its last reference.
final class TemporaryFile: Sendable {
    let path: String

    init(_ text: String) throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("carillon-test-\(UUID().uuidString)").path
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// The status and message of an invalid command line; nil for a valid one.
func refusal(_ arguments: [String]) -> (status: Int32, message: String)? {
    do {
        _ = try Carillon.understood(arguments)
        return nil
    } catch {
        return (Carillon.exitCode(for: error).rawValue, Carillon.message(for: error))
    }
}

/// The help of a command.
func helpText(of command: [String]) -> String? {
    do {
        var parsed = try Carillon.parseAsRoot(command + ["--help"])
        try parsed.run()
        return nil
    } catch {
        return Carillon.exitCode(for: error) == .success ? Carillon.message(for: error) : nil
    }
}

/// A record as a topic would return it.
func record(
    topic: String = "carillon.deliveries",
    key: String? = "shop/ana/order-1",
    value: String?,
    headers: [(String, [UInt8]?)] = [],
    timestamp: Int64? = 1_795_000_000_000
) -> KafkaConsumerRecord {
    KafkaConsumerRecord(
        topic: topic,
        partition: 3,
        offset: 17,
        timestamp: timestamp,
        key: key.map { Array($0.utf8) },
        value: value.map { Array($0.utf8) },
        headers: headers.map { KafkaHeader(name: $0.0, value: $0.1) }
    )
}

func record(type: String, key: String? = "shop/ana/order-1", value: String? = "{}") -> KafkaConsumerRecord {
    record(key: key, value: value, headers: [("ce_type", Array(type.utf8))])
}
