import Foundation
import Testing

/// `carillon` as an operator runs it against a cluster.
struct CarillonCommand: Sendable {
    let cluster: Cluster

    /// Provides a cluster for the body, and always removes it.
    static func withCluster(_ body: (CarillonCommand) async throws -> Void) async throws {
        let cluster = try await Cluster.start()
        do {
            try await body(CarillonCommand(cluster: cluster))
        } catch {
            try? await cluster.stop()
            throw error
        }
        try await cluster.stop()
    }

    /// How a command ended.
    struct End: Sendable {
        var status: Int32
        var output: String
        var errors: String

        var lines: [String] { output.split(separator: "\n").map(String.init) }

        /// A member of each line of JSON.
        func members(_ path: String) -> [String?] { lines.map { JSONText.member(path, of: Data($0.utf8)) } }
    }

    private var environment: [String: String] {
        [
            "CARILLON_KAFKA_BOOTSTRAP_SERVERS": cluster.bootstrapServers, "CARILLON_TOPICS_PREFIX": cluster.prefix,
            "CARILLON_APPLICATION_DEFAULT": "shop",
        ]
    }

    func start(_ arguments: [String], input: Data = Data(), keepsInput: Bool = false) throws -> ChildProcess {
        try ChildProcess(
            try Tools.product("carillon"),
            arguments,
            environment: environment,
            input: input,
            keepsInput: keepsInput
        )
    }

    func run(_ arguments: String..., input: String = "") async throws -> End {
        let child = try start(arguments, input: Data(input.utf8))
        let status = try await child.ended()
        return End(status: status, output: child.outputText, errors: child.errorText)
    }

    /// Starts a line of bash, in which `$carillon` is the program.
    func startShell(_ line: String) throws -> ChildProcess {
        var environment = environment
        environment["carillon"] = try Tools.product("carillon")
        return try ChildProcess("/bin/bash", ["-c", line], environment: environment)
    }

    /// Runs a line of bash, in which `$carillon` is the program.
    func shell(_ line: String) async throws -> End {
        let child = try startShell(line)
        let status = try await child.ended()
        return End(status: status, output: child.outputText, errors: child.errorText)
    }

    /// All records that a topic has by now, as kcat reads them to the end.
    func records(_ topic: String) async throws -> [KcatRecord] {
        let child = try await ChildProcess.run(
            try Tools.program("kcat"),
            [
                "-b", cluster.bootstrapServers, "-C", "-t", cluster.topic(topic), "-o", "beginning", "-e", "-q", "-J",
                "-X", "fetch.wait.max.ms=10",
            ]
        )
        return child.outputLines.compactMap { KcatRecord(line: $0) }
    }
}
