import Foundation
import NotificationModel
import ServiceSupport
import Testing

@testable import carillon

@Suite("carillon config show")
struct ConfigShowTests {
    private static let broker = ["CARILLON_KAFKA_BOOTSTRAP_SERVERS": "kafka:9092"]

    @Test func `every setting of the service is there, those of its process included`() throws {
        for service in ServiceChoice.allCases {
            let keys = try service.settings(environment: Self.broker, file: nil).inForce.map(\.key)
            #expect(keys.contains("ops.port") && keys.contains("log.level") && keys.contains("kafka.bootstrap.servers"))
            #expect(keys.contains("rules.file") == (service == .producer))
            #expect(keys.contains("store.directory") == (service == .consumer))
            #expect(keys == keys.sorted())
        }
    }

    @Test func `a line has key, value and source, and secrets are not in it`() throws {
        let file = try TemporaryFile("kafka: {properties: {sasl.password: hunter2}}\nchannels: [test, events]\n")
        let settings = try ServiceChoice.consumer.settings(environment: Self.broker, file: file.path).inForce
        let text = ConfigReport.text(of: settings, in: .consumer)
        func line(_ key: String) -> [Substring]? {
            text.split(separator: "\n").map { $0.split(separator: " ") }.first { $0.first == key[...] }
        }
        #expect(text.hasPrefix("carillon-consumer\n"))
        #expect(
            line("kafka.bootstrap.servers") == [
                "kafka.bootstrap.servers", "kafka:9092", "CARILLON_KAFKA_BOOTSTRAP_SERVERS",
            ]
        )
        #expect(
            line("kafka.properties.sasl.password") == ["kafka.properties.sasl.password", "<set>", "\(file.path):1"]
        )
        #expect(line("channels") == ["channels", "test,events", "\(file.path):2"])
        #expect(line("rules.file") == nil && line("store.directory") == ["store.directory", "-", "default"])
        #expect(!text.contains("hunter2"))
    }

    @Test func `for programs values have their types, and sources their parts`() throws {
        let file = try TemporaryFile("queries: {enabled: yes}\n")
        let environment = Self.broker.merging(["CARILLON_KAFKA_PROPERTIES": "sasl.password=hunter2"]) { $1 }
        let settings = try ServiceChoice.consumer.settings(environment: environment, file: file.path).inForce
        let json = ConfigReport.json(of: settings, in: .consumer)
        #expect(!String(decoding: json, as: UTF8.self).contains("hunter2"))
        let value = try JSONValue.parse(json.dropLast())
        #expect(value["service"]?.stringValue == "consumer")
        func member(_ key: String) -> String? {
            let found = value["settings"]?.arrayValue?.first { $0["key"]?.stringValue == key }
            return found.map { String(decoding: $0.json, as: UTF8.self) }
        }
        #expect(
            member("queries.enabled")
                == #"{"key":"queries.enabled","value":true,"source":"file","file":"\#(file.path)","line":1}"#
        )
        #expect(member("queries.port") == #"{"key":"queries.port","value":8083,"source":"default"}"#)
        #expect(member("store.directory") == #"{"key":"store.directory","value":null,"source":"default"}"#)
        #expect(
            member("kafka.properties.sasl.password")
                == #"{"key":"kafka.properties.sasl.password","secret":true,"source":"variable","variable":"CARILLON_KAFKA_PROPERTIES"}"#
        )
    }

    @Test func `what is wrong is told as at a start`() throws {
        let file = try TemporaryFile("htp: {port: 1}\n")
        let error = #expect(throws: ServiceSettingsError.self) {
            _ = try ServiceChoice.producer.settings(environment: Self.broker, file: file.path)
        }
        let text = try ServiceChoice.producer.main.invalid(#require(error))
        #expect(
            text
                == "carillon-producer: invalid configuration\n\(file.path):1: htp.port is not a known key; did you mean http.port?\n"
        )
    }
}
