import Foundation
import TestSupport

/// A service as a real process, with its settings as environment variables and its ports chosen by the system.
final class ServiceProcess: Sendable {
    let child: ChildProcess

    init(_ child: ChildProcess) {
        self.child = child
    }

    /// The settings that both services have; `servers` are those of the cluster if not given.
    static func settings(_ cluster: Cluster, deployment: String, servers: String? = nil) -> [String: String] {
        [
            "CARILLON_KAFKA_BOOTSTRAP_SERVERS": servers ?? cluster.bootstrapServers,
            "CARILLON_KAFKA_PROPERTIES": "fetch.wait.max.ms=10,session.timeout.ms=6000,heartbeat.interval.ms=500",
            "CARILLON_TOPICS_PREFIX": cluster.prefix,
            "CARILLON_DEPLOYMENT": deployment,
            "CARILLON_OPS_PORT": "0",
            "CARILLON_LOG_FORMAT": "json",
        ]
    }

    static func producer(_ settings: [String: String], deployment: String) throws -> ServiceProcess {
        var settings = settings
        settings["CARILLON_HTTP_PORT"] = settings["CARILLON_HTTP_PORT"] ?? "0"
        settings["CARILLON_RULES_FILE"] = settings["CARILLON_RULES_FILE"] ?? Tools.client("rules.yaml")
        settings["CARILLON_APPLICATION_DEFAULT"] = "shop"
        settings["CARILLON_INGEST_GROUP"] = "\(deployment)-producer"
        return ServiceProcess(try ChildProcess(try Tools.product("carillon-producer"), environment: settings))
    }

    static func consumer(_ settings: [String: String], deployment: String) throws -> ServiceProcess {
        var settings = settings
        settings["CARILLON_CONSUMER_GROUP"] = "\(deployment)-consumer"
        // A second member would wait for a whole session on the embedded broker.
        settings["CARILLON_CONSUMER_LANES"] = settings["CARILLON_CONSUMER_LANES"] ?? "1"
        return ServiceProcess(try ChildProcess(try Tools.product("carillon-consumer"), environment: settings))
    }

    // MARK: Reports

    /// The port that it logged with a message.
    func port(_ message: String) async throws -> Int {
        var port: Int?
        try await eventually("\(child.name) says \"\(message)\"", orSay: { self.child.lastWords }) {
            guard child.isRunning else { throw ChildProcess.Failure(description: child.lastWords) }
            for line in child.errorText.split(separator: "\n") where line.contains("\"\(message)\"") {
                let record = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                let metadata = record?["metadata"] as? [String: String]
                port = metadata?["port"].flatMap { Int($0) }
            }
            return port != nil
        }
        guard let port else { throw ChildProcess.Failure(description: child.lastWords) }
        return port
    }

    var http: String { get async throws { "http://127.0.0.1:\(try await port("HTTP API listens"))" } }
    var ops: String { get async throws { "http://127.0.0.1:\(try await port("ops endpoint listens"))" } }

    func health(_ kind: String) async throws -> HTTPAnswer {
        try await Curl.send("GET", "\(try await ops)/health/\(kind)")
    }

    func ready() async throws {
        var last = ""
        try await eventually("\(child.name) is ready", orSay: { "\(last)\n\(self.child.lastWords)" }) {
            let answer = try await health("ready")
            last = answer.text
            return answer.status == 200
        }
    }

    var metrics: String {
        get async throws { try await Curl.send("GET", "\(try await ops)/metrics").text }
    }
}
