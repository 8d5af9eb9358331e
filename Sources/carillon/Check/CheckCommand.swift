import ArgumentParser
import Foundation
import Kafka
import NotificationDelivery
import ServiceSupport
import Synchronization

/// `carillon check`: whether a service would start, and reach what it needs.
struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check settings, files, topics and what a service needs of the network.",
        discussion: """
            First the settings, and the files that they name: rules, enrichers and their chains, keys, tokens and \
            certificates, by the code that a start runs. Unless --no-environment is given, then the environment: \
            directories, brokers and topics, and the servers that the channels need: a connection with its TLS handshake, a \
            provider token of each key of APNs, an access token of each project of FCM. The endpoint of a webhook gets a \
            request with the method OPTIONS, the collector of spans one without spans. Nothing is sent to a device, and \
            nothing is created.

            Each step is a line: ok, warning, failed or skipped. The status is 78 when settings or files are wrong, else 69 when \
            a broker or a server did not answer, else 1 when a topic is not as it must be or credentials are refused.

            Examples:

              carillon check --config /etc/carillon/carillon.yaml
              carillon check consumer --config carillon.yaml --no-environment
              carillon check producer --config carillon.yaml --timeout 3s --json
            """
    )

    @Argument(help: "The service: producer or consumer. Default: both.") var service: ServiceChoice?

    @Option(
        help: ArgumentHelp("The settings file of the service.", valueName: "file"),
        completion: .file(extensions: ["yaml", "yml"])
    )
    var config: String?

    @Flag(help: "Check only settings and files: connect to nothing, and look at no directory.")
    var noEnvironment = false

    @Option(
        help: ArgumentHelp("How long to wait for the brokers, and for each server.", valueName: "time")
    )
    var timeout = SpanArgument(.seconds(10))

    @Flag(help: "One JSON object per step.") var json = false

    func validate() throws {
        guard !Validation.isLater else { return }
        guard (.milliseconds(100) ... .seconds(600)).contains(timeout.duration) else {
            throw ValidationError("--timeout must be from 100ms to 10m")
        }
    }

    func run() async throws {
        try await CommandFailure.told(by: "carillon check") {
            let environment = ProcessInfo.processInfo.environment
            let status = Mutex(CheckStatus())
            for service in ServiceChoice.all(service) {
                if !json { Terminal.write("\(service.main.name)\n") }
                try await check(service, environment) { [json] step in
                    status.withLock { $0.note(step) }
                    if json { Terminal.write(json: step.json(of: service)) } else { Terminal.write(step.text) }
                }
            }
            let worst = status.withLock(\.status)
            if worst != 0 { throw ExitCode(worst) }
        }
    }

    private func check(
        _ service: ServiceChoice,
        _ environment: [String: String],
        tell: @escaping @Sendable (CheckStep) -> Void
    ) async throws {
        let checked = try await KafkaThread.run(name: "check") { [config] in
            var files = ServiceFilesCheck(service, environment: environment, file: config, tell: tell)
            return files.run()
        }
        guard let checked, !noEnvironment else {
            let why = checked == nil ? "settings or files are wrong" : "--no-environment"
            tell(CheckStep(phase: .environment, what: "topics, directories and servers", result: .skipped(why)))
            for channel in checked?.channels ?? [] { await channel.close() }
            return
        }
        try await EnvironmentCheck(service: checked, timeout: timeout.duration, tell: tell).run()
    }
}
