import ArgumentParser

/// `carillon state`: commands for the changelog.
struct StateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "state",
        abstract: "Repair the changelog of the consumer service.",
        subcommands: [StateRemoveCommand.self]
    )
}
