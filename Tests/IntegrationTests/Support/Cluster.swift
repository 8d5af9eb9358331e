import Foundation
import LocalBroker
import TestSupport

/// The Kafka cluster of a test run: that of `KAFKA_BOOTSTRAP_SERVERS` if it is set, else a separate `carillon broker`.
final class Cluster: Sendable {
    let bootstrapServers: String
    /// The prefix of its topics' names.
    let prefix: String
    /// Nil when it is no process of ours.
    let broker: ChildProcess?
    /// The embedded broker in this process.
    let local: LocalBroker?

    /// The requested real cluster. An empty value is an error; it does not select the embedded broker.
    static let requested = ProcessInfo.processInfo.environment["KAFKA_BOOTSTRAP_SERVERS"]
    static var isReal: Bool { requested != nil }

    private init(bootstrapServers: String, prefix: String, broker: ChildProcess?, local: LocalBroker? = nil) {
        self.bootstrapServers = bootstrapServers
        self.prefix = prefix
        self.broker = broker
        self.local = local
    }

    /// The cluster of the scenarios.
    ///
    /// - Parameter settings: of the topics that a real cluster compacts, as `name=value`.
    static func start(_ settings: [String] = []) async throws -> Cluster {
        guard let requested else { return try await embedded() }
        guard !requested.allSatisfy(\.isWhitespace) else {
            throw ChildProcess.Failure(
                description: "KAFKA_BOOTSTRAP_SERVERS is set and empty: name the cluster, or unset it"
            )
        }
        let prefix = "carillon-test-\(UUID().uuidString.prefix(8).lowercased())."
        _ = try await ChildProcess.run(
            try Tools.python(),
            [Tools.client("topics.py"), "create", requested, prefix, "8"] + settings
        )
        return Cluster(bootstrapServers: requested, prefix: prefix, broker: nil)
    }

    /// A separate broker.
    static func embedded() async throws -> Cluster {
        let folder = try TemporaryFolder()
        let file = folder.file("bootstrap")
        let broker = try ChildProcess(try Tools.product("carillon"), ["broker", "--bootstrap-file", file])
        var servers = ""
        try await eventually("the embedded broker is ready", orSay: { broker.lastWords }) {
            servers = (try? String(contentsOfFile: file, encoding: .utf8))?.trimmingCharacters(in: .newlines) ?? ""
            return !servers.isEmpty || !broker.isRunning
        }
        guard !servers.isEmpty else { throw ChildProcess.Failure(description: broker.lastWords) }
        return Cluster(bootstrapServers: servers, prefix: "carillon.", broker: broker)
    }

    /// A broker in this process, whose faults are at hand.
    static func inProcess(partitions: Int = 8) throws -> Cluster {
        let prefix = "carillon."
        let names = [
            "business-events", "requests", "signals", "devices", "tokens", "categories", "deliveries", "responses",
            "state", "dead-letters",
        ]
        let local = try LocalBroker(
            topics: Dictionary(uniqueKeysWithValues: names.map { (prefix + $0, partitions) })
        )
        let servers = local.bootstrapServers.joined(separator: ",")
        return Cluster(bootstrapServers: servers, prefix: prefix, broker: nil, local: local)
    }

    func stop() async throws {
        if let broker {
            await broker.end()
        } else if let local {
            await local.shutDown()
        } else {
            _ = try await ChildProcess.run(
                try Tools.python(),
                [Tools.client("topics.py"), "delete", bootstrapServers, prefix]
            )
        }
    }

    func topic(_ name: String) -> String { prefix + name }
}
