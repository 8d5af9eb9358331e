import ArgumentParser
import Foundation
import Logging
import PushSimulation
import ServiceSupport
import WebPushSimulator

/// `carillon webpush-simulator`: a push service that real browsers use.
struct WebPushSimulatorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "webpush-simulator",
        abstract: "Run a push service of Web Push for a Firefox on this machine.",
        discussion: """
            Senders reach it by HTTPS, as RFC 8030 says, with a certificate authority of its own that they must trust. \
            Firefox connects to the address of browsers, with the preferences dom.push.serverURL and \
            dom.push.testing.allowInsecureServerURL. Everything is on the loopback address, and forgotten at the end.

            Example:

              carillon webpush-simulator --directory push
            """
    )

    @Option(help: ArgumentHelp("Port of senders.", valueName: "port")) var port = 2397
    @Option(help: ArgumentHelp("Port of browsers.", valueName: "port")) var browserPort = 2398
    @Option(help: ArgumentHelp("Port of the control interface.", valueName: "port")) var controlPort = 2399

    @Option(
        help: ArgumentHelp("Where the files for senders are; made if it is not there.", valueName: "folder"),
        completion: .directory
    )
    var directory = "webpush-simulator"

    func validate() throws {
        guard !Validation.isLater else { return }
        for (name, port) in [("--port", port), ("--browser-port", browserPort), ("--control-port", controlPort)] {
            guard (0...65_535).contains(port) else { throw ValidationError("\(name) must be from 0 to 65535") }
        }
    }

    func run() async throws {
        try await CommandFailure.told(by: "carillon webpush-simulator") { try await serve() }
    }

    private func serve() async throws {
        bootstrapLogging(LoggingConfiguration(level: .notice))
        var configuration = WebPushSimulatorConfiguration(directory: URL(fileURLWithPath: directory).path)
        configuration.port = port
        configuration.browserPort = browserPort
        configuration.controlPort = controlPort
        let simulator: WebPushSimulator
        do {
            simulator = try await WebPushSimulator.start(configuration)
        } catch let error as SimulatorError {
            throw CommandFailure("\(error)", status: ExitStatus.failed)
        }
        Terminal.write(
            """
            endpoints    \(simulator.origin)
            browsers     ws://127.0.0.1:\(simulator.browserPort)/
            control      http://127.0.0.1:\(simulator.controlPort)
            authority    \(simulator.authorityFile)

            """
        )
        try await SimulatorService.run(for: "carillon webpush-simulator") { await simulator.stop() }
    }
}
