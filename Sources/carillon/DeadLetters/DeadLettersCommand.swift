import ArgumentParser

/// `carillon dead-letters`: what the services could not use.
struct DeadLettersCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dead-letters",
        abstract: "List dead letters, show them, and send their records again.",
        subcommands: [DeadLettersListCommand.self, DeadLettersShowCommand.self, DeadLettersSendCommand.self]
    )
}
