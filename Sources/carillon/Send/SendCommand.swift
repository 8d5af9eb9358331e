import ArgumentParser

/// `carillon send`: notifications, removals and business events, straight to Kafka.
struct SendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Send notifications, removals or business events.",
        discussion: """
            Each returns when the broker has acknowledged, and says how many it has. Records of one key keep the order in which \
            they are given. At most 10,000 wait for the broker at a time. Ctrl-C ends sending, waits for what is on its way, \
            and still says how many there were.
            """,
        subcommands: [SendNotification.self, SendRemoval.self, SendEvent.self]
    )
}
