import Foundation
import NotificationModel

/// A measured program: the production services, or a program that does the same work.
struct Subject {
    /// The input of a program.
    struct Work {
        var bootstrapServers: String
        var topicsPrefix: String
        var partitions: Int32
        var records: Int
        /// librdkafka properties, the same for all programs.
        var properties: [String: String]

        /// For the programs other than Carillon.
        var arguments: [String] {
            let topics = TopicNames(prefix: topicsPrefix)
            return [bootstrapServers, topics.requests, topics.deliveries, "\(partitions)", "\(records)"] + assignments
        }

        /// For the services.
        var settings: [String: String] {
            [
                "CARILLON_KAFKA_BOOTSTRAP_SERVERS": bootstrapServers,
                "CARILLON_TOPICS_PREFIX": topicsPrefix,
                "CARILLON_KAFKA_PROPERTIES": assignments.joined(separator: ","),
                "CARILLON_OPS_PORT": "0",
            ]
        }

        private var assignments: [String] { properties.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" } }
    }

    var name: String
    var executable: URL
    var arguments: (Work) -> [String] = { _ in [] }
    var environment: (Work) -> [String: String] = { _ in [:] }
    /// Too slow for several runs.
    var runsOnce = false

    /// The consumer service with one lane: one thread reads, as in the other programs.
    static func carillon() throws -> Subject {
        Subject(
            name: "carillon",
            executable: try Programs.executable("carillon-consumer"),
            environment: { work in
                work.settings.merging(["CARILLON_CONSUMER_LANES": "1", "CARILLON_CONSUMER_START": "earliest"]) { $1 }
            }
        )
    }

    /// The same with committed entries on disk, in a new directory for each run.
    static func disk(on workbench: Workbench) throws -> Subject {
        var subject = try carillon().adding { _ in ["CARILLON_STORE_DIRECTORY": workbench.place("store").path] }
        subject.name = "disk"
        return subject
    }

    /// The same with spans, for a collector.
    static func traced(collector: String) throws -> Subject {
        var subject = try carillon().adding { _ in ["CARILLON_TRACING_ENDPOINT": collector] }
        subject.name = "traced"
        return subject
    }

    /// The producer service with the rule of ``EventWorkload``.
    ///
    /// - Parameter port: The port of its HTTP interface; 0 for any.
    static func producer(port: Int = 0) throws -> Subject {
        let rules = try Programs.resource("rules.yaml")
        return Subject(
            name: "carillon-producer",
            executable: try Programs.executable("carillon-producer"),
            environment: { work in
                work.settings.merging(["CARILLON_RULES_FILE": rules.path, "CARILLON_HTTP_PORT": "\(port)"]) { $1 }
            }
        )
    }

    /// The C++ program of this package.
    static func native() throws -> Subject {
        Subject(
            name: "native",
            executable: try Programs.executable("carillon-bench-native"),
            arguments: \.arguments
        )
    }

    /// The same program with jemalloc preloaded.
    func preloading(_ library: String) -> Subject {
        var subject = adding { _ in ["LD_PRELOAD": library] }
        subject.name += "-jemalloc"
        return subject
    }

    /// The same program with additional environment variables.
    func adding(_ variables: @escaping (Work) -> [String: String]) -> Subject {
        var subject = self
        subject.environment = { [environment] in environment($0).merging(variables($0)) { $1 } }
        return subject
    }

    func start(_ work: Work, on workbench: Workbench) throws -> SubjectProcess {
        try SubjectProcess(executable, arguments(work), environment: environment(work), on: workbench)
    }
}
