import ArgumentParser
import NotificationModel

/// `carillon send report`.
struct SendReport: SignalCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Send what a gateway says about its attempt at a device.",
        discussion: """
            Example:

              carillon send report --recipient ana --identifier order-1 \\
                --request-id 0d8f4e6c-53a5-5f0e-9d0b-6a1f6f1c2a11 \\
                --device phone --outcome rejected --reason PayloadTooLarge

            A device whose token is unregistered gets no more notifications until it registers again. One that is deferred \
            may still be accepted.
            """
    )

    @Option(help: ArgumentHelp("Whose device.", valueName: "name"))
    var recipient: String

    @Option(help: ArgumentHelp("The notification.", valueName: "name"))
    var identifier: String

    @Option(help: ArgumentHelp("The request that was attempted, as its events tell it.", valueName: "id"))
    var requestID: String

    @Option(help: ArgumentHelp("The device.", valueName: "name"))
    var device: String

    @Option(help: "What became of the attempt.")
    var outcome: ReportSignal.Outcome

    @Option(help: ArgumentHelp("Why, in the gateway's words.", valueName: "text"))
    var reason: String?

    @Option(help: ArgumentHelp("The application. Default: the service's.", valueName: "name"))
    var application: String?

    @OptionGroup(title: "How much") var sending: SendOptions
    @OptionGroup(title: "Kafka") var kafka: ConnectionOptions

    func signal(_ filled: (String) -> String, at now: Timestamp) throws(ModelError) -> Signal {
        .report(
            ReportSignal(
                application: application.map(filled),
                identifier: filled(identifier),
                requestID: try RequestID(filled(requestID), of: "requestId"),
                device: filled(device),
                outcome: outcome,
                reason: reason.map(filled)
            )
        )
    }
}
