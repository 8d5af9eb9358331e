import Foundation
import Testing

@Suite("One settings file for both services", .timeLimit(.minutes(10)))
struct SharedSettingsTests {
    @Test(
        "the file of the page of settings starts both, also beside the variables of the command line",
        .disabled(if: Cluster.isReal, "it would need the file's security")
    )
    func file() async throws {
        let cluster = try await Cluster.start()
        do {
            try await start(cluster)
        } catch {
            try? await cluster.stop()
            throw error
        }
        try await cluster.stop()
    }

    private func start(_ cluster: Cluster) async throws {
        let folder = try TemporaryFolder()
        let rules = try folder.write(try Page.rules().block("yaml", containing: "rules:\n  - event:"), to: "rules.yaml")
        // Only the settings of that machine and that cluster are replaced.
        var yaml = try Page.settings().block("yaml", containing: "kafka:\n  bootstrap:")
        for (written, here) in [
            ("kafka:9092", cluster.bootstrapServers), ("/var/lib/carillon", folder.file("store")),
            ("/etc/carillon/rules.yaml", rules),
        ] {
            #expect(yaml.contains(written), "\(yaml)")
            yaml = yaml.replacingOccurrences(of: written, with: here)
        }
        let file = try folder.write(yaml, to: "carillon.yaml")
        var environment = [
            "CARILLON_KAFKA_PROPERTIES": "security.protocol=plaintext,fetch.wait.max.ms=10", "CARILLON_OPS_PORT": "0",
            "CARILLON_HTTP_PORT": "0", "CARILLON_LOG_FORMAT": "json",
        ]
        for variable in ["HTTP_URL", "HTTP_TOKEN", "QUERIES_URL"] { environment["CARILLON_\(variable)"] = "x" }
        let services = try ["carillon-consumer", "carillon-producer"].map { name in
            ServiceProcess(
                try ChildProcess(try Tools.product(name), ["--config", file], environment: environment)
            )
        }
        for service in services { try await service.ready() }
        for service in services { await service.child.end() }
        #expect(FileManager.default.fileExists(atPath: folder.file("store")))
    }
}
