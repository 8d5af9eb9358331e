import ArgumentParser

/// `carillon config`: the settings of the services.
struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Look at the settings of the services.",
        subcommands: [ConfigShowCommand.self]
    )
}
