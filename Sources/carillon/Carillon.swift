import ArgumentParser
import ServiceSupport

/// The command line.
@main
struct Carillon: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "carillon",
        abstract: "A notification pipeline on Kafka.",
        discussion: ExitStatus.help,
        version: "carillon \(CarillonVersion.current)",
        subcommands: [
            LocalCommand.self, BrokerCommand.self, SendCommand.self, DeviceCommand.self, CategoriesCommand.self,
            TailCommand.self, DeadLettersCommand.self, RulesCommand.self, StateCommand.self, TriggerCommand.self,
            MediaCommand.self,
            ReceiveCommand.self,
            SimulateCommand.self,
        ]
    )

    static func main() async {
        do {
            var command = try understood()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            let status = exitCode(for: error)
            guard !status.isSuccess else { exit(withError: error) }
            let message = fullMessage(for: error)
            if !message.isEmpty { Terminal.writeError(message + "\n") }
            exit(withError: status)
        }
    }

    /// Parses a command line.
    ///
    /// ArgumentParser validates the combination of options before it reports unknown options, so it would report a
    /// misspelt option as a missing one.
    ///
    /// - Parameter arguments: Nil for those of the process.
    static func understood(_ arguments: [String]? = nil) throws -> any ParsableCommand {
        _ = try Validation.$isLater.withValue(true) { try parseAsRoot(arguments) }
        return try parseAsRoot(arguments)
    }
}

/// Defers the validation of combinations until all options are known.
enum Validation {
    /// True while only the names of options are checked.
    @TaskLocal static var isLater = false
}
