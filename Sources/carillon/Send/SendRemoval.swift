import ArgumentParser
import NotificationModel

/// `carillon send removal`.
struct SendRemoval: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "removal",
        abstract: "Cancel pending notifications, withdraw delivered ones, or both.",
        discussion: """
            Examples:

              carillon send removal --recipient ana --identifier order-1 --state pending
              carillon send removal --recipient ana --all-identifiers
            """
    )

    @OptionGroup(title: "Recipient and identifier") var key: KeyOptions

    @Flag(help: "All notifications of the recipient, instead of one identifier.")
    var allIdentifiers = false

    @Option(help: "What to remove: pending notifications, delivered ones, or all.")
    var state = RemovalScope.all

    @OptionGroup(title: "How much") var sending: SendOptions
    @OptionGroup(title: "Kafka") var kafka: ConnectionOptions

    func validate() throws {
        guard !Validation.isLater else { return }
        guard key.recipient != nil else { throw ValidationError("a removal needs --recipient") }
        guard allIdentifiers == (key.identifier == nil) else {
            throw ValidationError("a removal needs either --identifier or --all-identifiers")
        }
        guard key.identifier != "" else {
            throw ValidationError("--identifier must not be empty; --all-identifiers removes all of a recipient's")
        }
        do throws(ModelError) {
            _ = try message(1, key.application ?? "a", RequestMessages(source: SendOptions.source))
        } catch {
            throw ValidationError("\(error)")
        }
    }

    func run() async throws {
        try await CommandFailure.told(by: "carillon send") {
            let connection = try kafka.connection()
            let messages = RequestMessages(source: SendOptions.source)
            let application = key.application ?? connection.defaultApplication
            try await sending.send(to: connection, topic: connection.topics.requests) {
                NumberedMessages(count: sending.count ?? 1) { number throws(ModelError) in
                    try message(number, application, messages)
                }
            }
        }
    }

    private func message(
        _ number: Int,
        _ application: String,
        _ messages: RequestMessages
    ) throws(ModelError) -> OutgoingMessage {
        let key = try key.key(sending.count == nil ? nil : number, application: application)
        return try messages.message(NotificationRemoval(key: key, scope: state))
    }
}
