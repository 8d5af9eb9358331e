import ArgumentParser
import CarillonServices
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
            LocalCommand.self, BrokerCommand.self, PhoneCommand.self, SendCommand.self, DeviceCommand.self,
            CategoriesCommand.self, TailCommand.self, ExplainCommand.self, QueryCommand.self, TopCommand.self,
            DeadLettersCommand.self, RulesCommand.self, ConfigCommand.self, CheckCommand.self, TopicsCommand.self,
            StateCommand.self, TriggerCommand.self, MediaCommand.self, PushCommand.self, ReceiveCommand.self,
            APNsSimulatorCommand.self, FCMSimulatorCommand.self, WebPushSimulatorCommand.self, WebPushCommand.self,
            SimulateCommand.self,
        ]
    )

    static func main() async {
        // A package has the services as links to this program.
        if let service = CommandLine.arguments.first.flatMap(ServiceProgram.init(calledAs:)) {
            exit(withError: ExitCode(await service.run()))
        }
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
        if let problem = misspelt(arguments ?? Array(CommandLine.arguments.dropFirst())) {
            throw ValidationError(problem)
        }
        _ = try Validation.$isLater.withValue(true) { try parseAsRoot(arguments) }
        return try parseAsRoot(arguments)
    }
}

extension Carillon {
    /// What is wrong with the name of a command, with the nearest one; nil when the names are right.
    static func misspelt(_ arguments: [String]) -> String? {
        var command: any ParsableCommand.Type = Carillon.self
        var path = ["carillon"]
        for argument in arguments where argument != "help" {
            let commands = command.configuration.subcommands
            guard !commands.isEmpty, !argument.hasPrefix("-") else { return nil }
            guard let next = commands.first(where: { $0.configuration.commandName == argument }) else {
                let names = commands.compactMap { $0.configuration.commandName }
                let hint = Spelling.nearest(to: argument, among: names).map { "; did you mean '\($0)'?" } ?? "."
                return "'\(path.joined(separator: " "))' has no command '\(argument.prefix(40))'\(hint) Its commands: "
                    + names.joined(separator: ", ")
            }
            (command, path) = (next, path + [argument])
        }
        return nil
    }
}

/// Defers the validation of combinations until all options are known.
enum Validation {
    /// True while only the names of options are checked.
    @TaskLocal static var isLater = false
}
