import ArgumentParser
import NotificationModel
import Synchronization

/// `carillon send notification`.
struct SendNotification: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "notification",
        abstract: "Send a notification, or many from a file.",
        discussion: """
            Examples:

              carillon send notification --recipient ana --identifier order-1 \\
                --title "On its way" --body "It comes today." --in 15m
              carillon send notification --recipient 'user-{n}' --identifier news \\
                --title 'Hello {n}' --count 1000 --rate 100
              carillon send notification --file requests.jsonl --keep-going
              carillon tail requests --no-follow --json > requests.jsonl

            A file contains requests as in the topic: one in JSON, JSON Lines, or an array; an object with "remove" \
            is a removal. --application, --recipient and --identifier fill in missing fields. A file can use \
            everything that a request can contain (attachments, localized texts, …).

            A line of 'carillon tail requests --json' is published unchanged: key, value, headers and timestamp, so \
            with the same ids and due times. A cluster that knows the ids drops it as a duplicate.
            """
    )

    @OptionGroup(title: "Content and trigger") var content: ContentOptions
    @OptionGroup(title: "Recipient and identifier") var key: KeyOptions

    @Option(
        help: ArgumentHelp("Requests in JSON instead of the options; - is standard input.", valueName: "file"),
        completion: .file(extensions: ["json", "jsonl"])
    )
    var file: String?

    @OptionGroup(title: "How much") var sending: SendOptions
    @OptionGroup(title: "Kafka") var kafka: ConnectionOptions

    func validate() throws {
        guard !Validation.isLater else { return }
        guard file == nil else {
            guard !content.isGiven else {
                throw ValidationError(
                    "--file contains the content and the trigger: give the file or the options, not both"
                )
            }
            return
        }
        guard key.recipient != nil, key.identifier != nil else {
            throw ValidationError("a notification needs --recipient and --identifier, or a --file")
        }
        if let id = content.requestID, sending.count ?? 1 > 1, !Placeholder.isIn(id) {
            throw ValidationError("--request-id is the same in every copy: add {n} to it")
        }
        let now = SystemClock.now()
        try content.validate(at: now)
        do throws(ModelError) {
            _ = try message(1, key.application ?? "a", RequestMessages(source: SendOptions.source), at: now)
        } catch {
            let option = error.field.flatMap { content.option(of: $0) }
            throw ValidationError("\(option.map { "\($0): " } ?? "")\(error)")
        }
    }

    func run() async throws {
        try await CommandFailure.told(by: "carillon send") {
            let connection = try kafka.connection()
            let messages = RequestMessages(source: SendOptions.source)
            let application = key.application ?? connection.defaultApplication
            if let file {
                let defaults = RequestMessages.Defaults(
                    application: application,
                    recipient: key.recipient,
                    identifier: key.identifier
                )
                try await sending.send(to: connection, topic: connection.topics.requests) {
                    let unsaid = Mutex(Set<String>())
                    return ReadMessages(try JSONInput(path: file), copies: sending.count) { json throws(ModelError) in
                        let message = try messages.message(json: json, defaults: defaults)
                        let new = message.notConverted.filter { path in unsaid.withLock { $0.insert(path).inserted } }
                        for path in new { Terminal.writeError("not converted: \(RecordText.safe(path))\n") }
                        return message
                    }
                }
            } else {
                try await sending.send(to: connection, topic: connection.topics.requests) {
                    NumberedMessages(count: sending.count ?? 1) { number throws(ModelError) in
                        try message(number, application, messages, at: SystemClock.now())
                    }
                }
            }
        }
    }

    /// The message with this number; replaces `{n}` if there is a count.
    private func message(
        _ number: Int,
        _ application: String,
        _ messages: RequestMessages,
        at now: Timestamp
    ) throws(ModelError) -> OutgoingMessage {
        let number = sending.count == nil ? nil : number
        let request = NotificationRequest(
            requestID: try content.requestID(number),
            key: try key.key(number, application: application),
            version: content.versionNumber,
            content: try content.content(number),
            trigger: try content.trigger(at: now),
            expiration: content.expiration?.after(now),
            collapseWindow: content.collapseWindow?.seconds,
            channel: content.channel
        )
        return try messages.message(request, at: now)
    }
}

/// The key of a notification.
struct KeyOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Whose notification.", valueName: "name"))
    var recipient: String?

    @Option(help: ArgumentHelp("Identifier: a later notification with the same one replaces it.", valueName: "name"))
    var identifier: String?

    @Option(
        help: ArgumentHelp(
            "Application. Default: CARILLON_APPLICATION_DEFAULT, else 'default'.",
            valueName: "name"
        )
    )
    var application: String?

    /// - Parameter number: The number for `{n}`; nil leaves it unchanged. A missing identifier is empty.
    func key(_ number: Int?, application: String) throws(ModelError) -> NotificationKey {
        func filled(_ text: String?) -> String { number.map { Placeholder.filled(text ?? "", $0) } ?? text ?? "" }
        return try NotificationKey(
            application: application,
            recipient: filled(recipient),
            identifier: filled(identifier)
        )
    }
}
