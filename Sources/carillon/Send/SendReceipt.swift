import ArgumentParser
import NotificationModel

/// `carillon send receipt`.
struct SendReceipt: SignalCommand {
    static let configuration = CommandConfiguration(
        commandName: "receipt",
        abstract: "Send how far a notification came on a device.",
        discussion: """
            Example:

              carillon send receipt --recipient ana --identifier order-1 \\
                --request-id 0d8f4e6c-53a5-5f0e-9d0b-6a1f6f1c2a11 \\
                --device phone --receipt presented
            """
    )

    @Option(help: ArgumentHelp("Whose device.", valueName: "name"))
    var recipient: String

    @Option(help: ArgumentHelp("The notification.", valueName: "name"))
    var identifier: String

    @Option(help: ArgumentHelp("The request that the device has, as its events tell it.", valueName: "id"))
    var requestID: String

    @Option(help: ArgumentHelp("The device.", valueName: "name"))
    var device: String

    @Option(help: "How far it came.")
    var receipt: ReceiptSignal.Receipt

    @Option(help: ArgumentHelp("The application. Default: the service's.", valueName: "name"))
    var application: String?

    @OptionGroup(title: "How much") var sending: SendOptions
    @OptionGroup(title: "Kafka") var kafka: ConnectionOptions

    func signal(_ filled: (String) -> String, at now: Timestamp) throws(ModelError) -> Signal {
        .receipt(
            ReceiptSignal(
                application: application.map(filled),
                identifier: filled(identifier),
                requestID: try RequestID(filled(requestID), of: "requestId"),
                device: filled(device),
                receipt: receipt
            )
        )
    }
}
