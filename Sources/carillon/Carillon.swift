import ArgumentParser
import ServiceSupport

/// The command line.
@main
struct Carillon: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "carillon",
        abstract: "A notification pipeline on Kafka.",
        version: "carillon \(CarillonVersion.current)",
        subcommands: [LocalCommand.self, BrokerCommand.self, TailCommand.self, RulesCommand.self]
    )
}
