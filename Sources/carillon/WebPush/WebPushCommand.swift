import ArgumentParser

/// `carillon webpush`: commands for Web Push.
struct WebPushCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "webpush",
        abstract: "Make keys for Web Push.",
        subcommands: [WebPushKeysCommand.self]
    )
}
