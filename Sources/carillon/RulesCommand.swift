import ArgumentParser

/// `carillon rules`: what has to do with files of rules.
struct RulesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rules",
        abstract: "Check files of rules.",
        subcommands: [RulesCheckCommand.self]
    )
}
