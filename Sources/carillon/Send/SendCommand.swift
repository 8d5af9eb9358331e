import ArgumentParser

/// `carillon send`: sends notifications, removals, business events and signals directly to Kafka.
struct SendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Send notifications, removals, business events, or what devices and gateways tell.",
        discussion: """
            Each command returns when the broker has acknowledged, and reports the numbers. Records with the same key \
            keep their order. At most 10,000 records wait for the broker at a time. Ctrl-C stops sending, waits for \
            the records in flight, and still reports the numbers.
            """,
        subcommands: [
            SendNotification.self, SendRemoval.self, SendEvent.self, SendLocation.self, SendResponse.self,
            SendReceipt.self, SendReport.self, SendAppState.self,
        ]
    )
}
