import ArgumentParser
import NotificationModel

/// `carillon send response`.
struct SendResponse: SignalCommand {
    static let configuration = CommandConfiguration(
        commandName: "response",
        abstract: "Send what a person did with a notification.",
        discussion: """
            Examples:

              carillon send response --recipient ana --identifier order-1 \\
                --request-id 0d8f4e6c-53a5-5f0e-9d0b-6a1f6f1c2a11
              carillon send response --recipient ana --identifier order-1 \\
                --request-id 0d8f4e6c-53a5-5f0e-9d0b-6a1f6f1c2a11 \\
                --device phone --action reply --text 'Thank you'

            The answer to each response is one event on the topic responses, however often it is sent.
            """
    )

    @Option(help: ArgumentHelp("Who did it.", valueName: "name"))
    var recipient: String

    @Option(help: ArgumentHelp("The notification.", valueName: "name"))
    var identifier: String

    @Option(help: ArgumentHelp("The request that was answered or sent, as its events tell it.", valueName: "id"))
    var requestID: String

    @Option(help: ArgumentHelp("default, dismiss, or an action of the notification's category.", valueName: "name"))
    var action = ResponseSignal.defaultAction

    @Option(help: ArgumentHelp("What the person typed, for an action with text input.", valueName: "text"))
    var text: String?

    @Option(help: ArgumentHelp("The device.", valueName: "name"))
    var device: String?

    @Option(help: ArgumentHelp("The same for a response that is sent again. Random if not given.", valueName: "id"))
    var responseID: String?

    @Option(help: ArgumentHelp("The application. Default: the service's.", valueName: "name"))
    var application: String?

    @OptionGroup(title: "How much") var sending: SendOptions
    @OptionGroup(title: "Kafka") var kafka: ConnectionOptions

    func signal(_ filled: (String) -> String, at now: Timestamp) throws(ModelError) -> Signal {
        .response(
            ResponseSignal(
                application: application.map(filled),
                identifier: filled(identifier),
                requestID: try RequestID(filled(requestID), of: "requestId"),
                responseID: try responseID.map { text throws(ModelError) in
                    try RequestID(filled(text), of: "responseId")
                } ?? .random(),
                device: device.map(filled),
                actionIdentifier: filled(action),
                userText: text.map(filled)
            )
        )
    }
}

extension RequestID {
    /// An id from an option; an error names its field.
    init(_ text: String, of field: String) throws(ModelError) {
        do throws(ModelError) {
            try self.init(text: text)
        } catch {
            throw ModelError(error.reason, field: field, error.detail)
        }
    }
}
