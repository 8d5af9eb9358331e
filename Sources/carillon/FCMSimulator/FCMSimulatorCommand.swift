import ArgumentParser
import FCMSimulator
import Foundation
import Logging
import PushSimulation
import ServiceSupport

/// `carillon fcm-simulator`: a server that behaves as Firebase Cloud Messaging does.
struct FCMSimulatorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fcm-simulator",
        abstract: "Run a server that behaves as Firebase Cloud Messaging does, with its bad days.",
        discussion: """
            HTTP/2 over TLS, with a certificate authority of its own that clients must trust, and a token service that \
            verifies assertions. It checks what FCM checks, shows what devices show, and fails on demand. Devices, \
            accounts and faults are controlled over HTTP with JSON, from this machine only.

            It prints where it listens and the files for clients: a service account is made, and used again after a \
            restart.

            Example:

              carillon fcm-simulator --directory fcm &
              curl -X POST http://127.0.0.1:2299/v1/devices/phone/tokens \\
                -H 'content-type: application/json' -d '{"package":"com.example.shop"}'
              curl http://127.0.0.1:2299/v1/devices/phone
            """
    )

    @Option(
        help: ArgumentHelp(
            "Address that stands for fcm.googleapis.com; port 0 takes a free one.",
            valueName: "host:port"
        )
    )
    var listen = HostPort(host: "127.0.0.1", port: 2298)

    @Option(
        help: ArgumentHelp("Port of the token service and the control interface, on 127.0.0.1.", valueName: "port")
    )
    var controlPort = 2299

    @Option(
        help: ArgumentHelp("Where the files for clients are; made if it is not there.", valueName: "folder"),
        completion: .directory
    )
    var directory = "fcm-simulator"

    @Option(help: ArgumentHelp("The project of the service account.", valueName: "id"))
    var project = "carillon-simulated"

    @Flag(help: "Accept every token; what is sent to an unknown one is dropped. For benchmarks.")
    var acceptUnknownTokens = false

    func validate() throws {
        guard !Validation.isLater else { return }
        guard (0...65_535).contains(controlPort) else {
            throw ValidationError("--control-port must be from 0 to 65535")
        }
    }

    func run() async throws {
        try await CommandFailure.told(by: "carillon fcm-simulator") { try await serve() }
    }

    private func serve() async throws {
        bootstrapLogging(LoggingConfiguration(level: .notice))
        var configuration = FCMSimulatorConfiguration(directory: URL(fileURLWithPath: directory).path)
        (configuration.host, configuration.port) = (listen.host, listen.port)
        configuration.controlPort = controlPort
        configuration.project = project
        configuration.acceptsUnknownTokens = acceptUnknownTokens
        let simulator: FCMSimulator
        do {
            simulator = try await FCMSimulator.start(configuration)
        } catch let error as SimulatorError {
            throw CommandFailure("\(error)", status: ExitStatus.failed)
        }
        Terminal.write(
            """
            messages     https://\(HostPort(host: listen.host, port: simulator.port))
            control      http://\(HostPort(host: "127.0.0.1", port: simulator.controlPort))
            authority    \(simulator.authorityFile)
            account      \(simulator.accountFile)

            """
        )
        try await SimulatorService.run(for: "carillon fcm-simulator") { await simulator.stop() }
    }
}
