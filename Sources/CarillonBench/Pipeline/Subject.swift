import Foundation
import NotificationModel

/// A program that turns the requests into delivery events.
struct Subject {
    /// What a program is told of its work; loops take it as their arguments.
    struct Work {
        var bootstrapServers: String
        var topics: TopicNames
        var partitions: Int32
        var records: Int
        /// librdkafka properties that are the same for all subjects.
        var properties: [String: String]

        var arguments: [String] {
            [bootstrapServers, topics.requests, topics.deliveries, "\(partitions)", "\(records)"]
                + properties.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        }
    }

    var name: String
    var executable: URL
    var arguments: (Work) -> [String]
    var environment: (Work) -> [String: String] = { _ in [:] }

    /// The consumer service as it ships, with one lane: a thread that reads, as the loops have.
    static func carillon(beside directory: URL) throws -> Subject {
        Subject(
            name: "carillon",
            executable: try executable("carillon-consumer", in: directory),
            arguments: { _ in [] },
            environment: { work in
                [
                    "CARILLON_KAFKA_BOOTSTRAP_SERVERS": work.bootstrapServers,
                    "CARILLON_KAFKA_PROPERTIES": work.properties.sorted { $0.key < $1.key }
                        .map { "\($0.key)=\($0.value)" }.joined(separator: ","),
                    "CARILLON_CONSUMER_LANES": "1",
                    "CARILLON_CONSUMER_START": "earliest",
                    "CARILLON_OPS_PORT": "0",
                ]
            }
        )
    }

    /// The C++ program of this package.
    static func native(beside directory: URL) throws -> Subject {
        Subject(
            name: "native",
            executable: try executable("carillon-bench-native", in: directory),
            arguments: \.arguments
        )
    }

    /// The same program with another allocator loaded before libc's.
    func preloading(_ library: String) -> Subject {
        var subject = self
        subject.name += "-jemalloc"
        let environment = environment
        subject.environment = { environment($0).merging(["LD_PRELOAD": library]) { $1 } }
        return subject
    }

    static func executable(_ name: String, in directory: URL) throws -> URL {
        let url = directory.appendingPathComponent(name)
        guard FileManager.default.isExecutableFile(atPath: url.path) else {
            throw BenchmarkError("\(url.path) is not there: swift build -c release")
        }
        return url
    }
}
