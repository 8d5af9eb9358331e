import ArgumentParser

/// `carillon state`: what has to do with the changelog.
struct StateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "state",
        abstract: "Mend the changelog of the consumer service.",
        subcommands: [StateRemoveCommand.self]
    )
}
