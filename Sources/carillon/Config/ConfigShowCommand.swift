import ArgumentParser
import Foundation
import ServiceSupport

/// `carillon config show`: the settings that a service would start with.
struct ConfigShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show every setting that is in force, and where it came from.",
        discussion: """
            It reads the settings file and the environment variables as the service does at its start. Each line has a \
            setting, its value, and the source: default, a line of the file, or a variable. Values are in their normal \
            form; '-' is an optional setting without a value. Secrets are shown as <set>: passwords among the \
            properties of Kafka, user information and query of URLs. What is in files that settings name is not read: \
            'carillon check' does that.

            For unknown keys and invalid values the message and the status, 78, are those of the service.

            Examples:

              carillon config show
              carillon config show consumer --config /etc/carillon/carillon.yaml
              carillon config show producer --json
            """
    )

    @Argument(help: "The service: producer or consumer. Default: both.") var service: ServiceChoice?

    @Option(
        help: ArgumentHelp("The settings file of the service.", valueName: "file"),
        completion: .file(extensions: ["yaml", "yml"])
    )
    var config: String?

    @Flag(help: "One JSON object per service.") var json = false

    func run() async throws {
        try await CommandFailure.told(by: "carillon config show") {
            let environment = ProcessInfo.processInfo.environment
            var isValid = true
            for service in ServiceChoice.all(service) {
                do {
                    let settings = try service.settings(environment: environment, file: config).inForce
                    if json {
                        Terminal.write(json: ConfigReport.json(of: settings, in: service))
                    } else {
                        Terminal.write(ConfigReport.text(of: settings, in: service))
                    }
                } catch {
                    Terminal.writeError(service.main.invalid(error))
                    isValid = false
                }
            }
            if !isValid { throw ExitCode(ExitStatus.settings) }
        }
    }
}
