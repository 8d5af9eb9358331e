import ArgumentParser
import OutboundHTTP

/// `carillon media`: commands for the media of notifications.
struct MediaCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "media",
        abstract: "Show how media of notifications are fetched.",
        subcommands: [MediaFetchCommand.self]
    )
}
