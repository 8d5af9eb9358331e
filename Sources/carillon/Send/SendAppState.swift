import ArgumentParser
import NotificationModel

/// `carillon send app-state`.
struct SendAppState: SignalCommand {
    static let configuration = CommandConfiguration(
        commandName: "app-state",
        abstract: "Send whether an app is in the foreground on a device.",
        discussion: """
            Examples:

              carillon send app-state --recipient ana --device phone --state foreground
              carillon send app-state --recipient ana --device phone --state background \\
                --badge 0
            """
    )

    @Option(help: ArgumentHelp("Whose device.", valueName: "name"))
    var recipient: String

    @Option(help: ArgumentHelp("The device.", valueName: "name"))
    var device: String

    @Option(help: "Where the app is.")
    var state: AppStateSignal.State

    @Option(help: ArgumentHelp("The number that the app's icon shows now.", valueName: "n"))
    var badge: Int64?

    @Option(help: ArgumentHelp("Since when, in RFC 3339. Now if not given.", valueName: "instant"))
    var at: Timestamp?

    @Option(help: ArgumentHelp("The application. Default: the service's.", valueName: "name"))
    var application: String?

    @OptionGroup(title: "How much") var sending: SendOptions
    @OptionGroup(title: "Kafka") var kafka: ConnectionOptions

    func signal(_ filled: (String) -> String, at now: Timestamp) throws(ModelError) -> Signal {
        .appState(
            AppStateSignal(
                application: application.map(filled),
                device: filled(device),
                state: state,
                badge: badge,
                at: at ?? now
            )
        )
    }
}
