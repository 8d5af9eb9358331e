import APNsSimulator
import ArgumentParser
import Foundation
import Logging
import NotificationModel
import ServiceSupport

/// `carillon apns-simulator`: a server that behaves as APNs does.
struct APNsSimulatorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apns-simulator",
        abstract: "Run a server that behaves as APNs does, with its bad days.",
        discussion: """
            HTTP/2 over TLS, with a certificate authority of its own that clients must trust. It checks what APNs checks, \
            shows what devices show, and fails on demand. Devices, keys and faults are controlled over HTTP with JSON, \
            from this machine only.

            It prints where it listens and the files for clients. A key of a provider is made if none is given. Files in \
            the directory are used again, so that clients need not be told of a restart.

            Example:

              carillon apns-simulator --directory apns &
              curl -X POST http://127.0.0.1:2199/v1/devices/phone/tokens \\
                -H 'content-type: application/json' -d '{"topic":"com.example.shop"}'
              curl http://127.0.0.1:2199/v1/devices/phone
            """
    )

    @Option(
        help: ArgumentHelp(
            "Address that stands for api.push.apple.com; port 0 takes a free one.",
            valueName: "host:port"
        )
    )
    var production = HostPort(host: "127.0.0.1", port: 2197)

    @Option(help: ArgumentHelp("Port that stands for api.sandbox.push.apple.com, on the same host.", valueName: "port"))
    var developmentPort = 2198

    @Option(help: ArgumentHelp("Port of the control interface, on 127.0.0.1.", valueName: "port"))
    var controlPort = 2199

    @Option(
        help: ArgumentHelp("Where the files for clients are; made if it is not there.", valueName: "folder"),
        completion: .directory
    )
    var directory = "apns-simulator"

    @Option(
        help: ArgumentHelp(
            "A provider's key: its id, its team and the file of the key (.p8) or of its public part. May be repeated.",
            valueName: "id,team,file"
        )
    )
    var key: [String] = []

    @Flag(help: "Accept every token that could be one; what is sent to an unknown one is dropped. For benchmarks.")
    var acceptUnknownTokens = false

    func validate() throws {
        guard !Validation.isLater else { return }
        for (name, port) in [("--development-port", developmentPort), ("--control-port", controlPort)] {
            guard (0...65_535).contains(port) else { throw ValidationError("\(name) must be from 0 to 65535") }
        }
        for key in key {
            guard key.split(separator: ",", omittingEmptySubsequences: false).count == 3 else {
                throw ValidationError("--key must be the id, the team and the file, with commas between them")
            }
        }
    }

    func run() async throws {
        try await CommandFailure.told(by: "carillon apns-simulator") { try await serve() }
    }

    private func serve() async throws {
        bootstrapLogging(LoggingConfiguration(level: .notice))
        var configuration = APNsSimulatorConfiguration(directory: URL(fileURLWithPath: directory).path)
        configuration.host = production.host
        configuration.productionPort = production.port
        configuration.developmentPort = developmentPort
        configuration.controlPort = controlPort
        configuration.acceptsUnknownTokens = acceptUnknownTokens
        configuration.keys = try key.map(read)
        let simulator: APNsSimulator
        do {
            simulator = try await APNsSimulator.start(configuration)
        } catch let error as APNsSimulatorError {
            throw CommandFailure("\(error)", status: ExitStatus.failed)
        }
        Terminal.write(text(of: simulator))
        try await SimulatorService.run(for: "carillon apns-simulator") { await simulator.stop() }
    }

    /// - Parameter text: `id,team,file`.
    private func read(_ text: String) throws -> ProviderKey {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        let pem = try InputFile.read(parts[2], upTo: 1 << 16)
        do throws(APNsSimulatorError) {
            return try ProviderKey(id: parts[0], team: parts[1], pem: pem)
        } catch {
            throw CommandFailure("\(parts[2]): \(error)", status: ExitStatus.badData)
        }
    }

    private func text(of simulator: APNsSimulator) -> String {
        func url(_ scheme: String, _ host: String, _ port: Int) -> String {
            "\(scheme)://\(HostPort(host: host, port: port))"
        }
        var lines = [
            "production   \(url("https", production.host, simulator.productionPort))",
            "development  \(url("https", production.host, simulator.developmentPort))",
        ]
        if let port = simulator.controlPort { lines.append("control      \(url("http", "127.0.0.1", port))") }
        lines.append("authority    \(simulator.authorityFile)")
        if let file = simulator.keyFile {
            lines.append(
                "key          \(file) (id \(APNsSimulator.ownKeyID), team \(APNsSimulator.ownTeam))"
            )
        }
        return lines.map { $0 + "\n" }.joined()
    }
}
