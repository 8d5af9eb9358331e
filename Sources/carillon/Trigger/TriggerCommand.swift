import ArgumentParser

/// `carillon trigger`: commands for triggers.
struct TriggerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trigger",
        abstract: "Show when triggers are due.",
        subcommands: [TriggerNextCommand.self]
    )
}
