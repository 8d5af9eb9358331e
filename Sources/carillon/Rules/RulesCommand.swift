import ArgumentParser

/// `carillon rules`: commands for rule files.
struct RulesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rules",
        abstract: "Check rule files.",
        subcommands: [RulesCheckCommand.self]
    )
}
