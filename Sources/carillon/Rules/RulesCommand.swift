import ArgumentParser

/// `carillon rules`: what has to do with files of rules.
struct RulesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rules",
        abstract: "Check files of rules.",
        subcommands: [RulesCheckCommand.self]
    )
}
