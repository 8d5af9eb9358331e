import ArgumentParser
import NotificationModel

/// `carillon send location`.
struct SendLocation: SignalCommand {
    static let configuration = CommandConfiguration(
        commandName: "location",
        abstract: "Send where a device of a recipient is, for location triggers.",
        discussion: """
            Examples:

              carillon send location --recipient ana --device phone --latitude 31.23 \\
                --longitude 121.47 --accuracy 15
              carillon send location --recipient 'user-{n}' --device phone \\
                --latitude=-33.87 --longitude 151.21 --count 100

            The first location of a device sets the side of each region on which it is; from then on a crossing is \
            noticed. One that is not later than the last one of its device is ignored.
            """
    )

    @Option(help: ArgumentHelp("Whose device.", valueName: "name"))
    var recipient: String

    @Option(help: ArgumentHelp("The device.", valueName: "name"))
    var device: String

    @Option(help: ArgumentHelp("Degrees, -90 to 90.", valueName: "degrees"))
    var latitude: Double

    @Option(help: ArgumentHelp("Degrees, -180 to 180.", valueName: "degrees"))
    var longitude: Double

    @Option(help: ArgumentHelp("Radius of the circle in which the device is. Exact if not given.", valueName: "metres"))
    var accuracy = 0.0

    @Option(help: ArgumentHelp("When the device was there, in RFC 3339. Now if not given.", valueName: "instant"))
    var at: Timestamp?

    @Option(help: ArgumentHelp("Only the regions of this application. Default: all.", valueName: "name"))
    var application: String?

    @OptionGroup(title: "How much") var sending: SendOptions
    @OptionGroup(title: "Kafka") var kafka: ConnectionOptions

    /// The location; instants are checked as a reader of the record does.
    func signal(_ filled: (String) -> String, at now: Timestamp) throws(ModelError) -> Signal {
        guard latitude.isFinite else { throw ModelError(.invalid, field: "latitude", "must be a number") }
        guard longitude.isFinite else { throw ModelError(.invalid, field: "longitude", "must be a number") }
        guard accuracy.isFinite else { throw ModelError(.invalid, field: "accuracy", "must be a number") }
        return .location(
            LocationFix(
                application: application.map(filled),
                device: filled(device),
                latitude: latitude,
                longitude: longitude,
                accuracy: accuracy,
                at: at ?? now
            )
        )
    }
}
