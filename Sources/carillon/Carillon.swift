import ArgumentParser
import CarillonBench
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
            LocalCommand.self, BrokerCommand.self, SendCommand.self, TailCommand.self, RulesCommand.self,
            SimulateCommand.self, BenchCommand.self,
        ]
    )
}
