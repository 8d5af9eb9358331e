import ArgumentParser
import Kafka
import NotificationModel
import NotificationPublisher

/// `carillon send location`.
struct SendLocation: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "location",
        abstract: "Send where a device of a recipient is, for location triggers.",
        discussion: """
            Examples:

              carillon send location --recipient ana --device phone --latitude 31.23 --longitude 121.47 --accuracy 15
              carillon send location --recipient 'user-{n}' --device phone --latitude=-33.87 --longitude 151.21 --count 100

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

    func validate() throws {
        guard !Validation.isLater else { return }
        do throws(ModelError) {
            _ = try message(1, at: SystemClock.now())
        } catch {
            throw ValidationError("\(error.field.map { "--\($0): " } ?? "")\(error)")
        }
    }

    func run() async throws {
        try await CommandFailure.told(by: "carillon send") {
            let connection = try kafka.connection()
            try await sending.send(to: connection, topic: connection.topics.signals) {
                NumberedMessages(count: sending.count ?? 1) { number throws(ModelError) in
                    try message(number, at: SystemClock.now())
                }
            }
        }
    }

    /// The message with this number; replaces `{n}` if there is a count.
    func message(_ number: Int, at now: Timestamp) throws(ModelError) -> OutgoingMessage {
        func filled(_ text: String) -> String { sending.count == nil ? text : Placeholder.filled(text, number) }
        let fix = LocationFix(
            application: application.map(filled),
            device: filled(device),
            latitude: latitude,
            longitude: longitude,
            accuracy: accuracy,
            at: at ?? now
        )
        guard latitude.isFinite else { throw ModelError(.invalid, field: "latitude", "must be a number") }
        guard longitude.isFinite else { throw ModelError(.invalid, field: "longitude", "must be a number") }
        guard accuracy.isFinite else { throw ModelError(.invalid, field: "accuracy", "must be a number") }
        // As a reader of the record finds it.
        try LocationFix(json: fix.json).checkTime(at: now)
        let id = RequestID.random()
        let record = try LocationRecord(fix, of: filled(recipient), id: id, source: SendOptions.source, time: now)
        var headers = KafkaHeaderBuffer()
        for header in record.headers { headers.append(KafkaHeaderName(header.name), header.value) }
        return OutgoingMessage(
            label: .event(id: id.description, source: SendOptions.source),
            partitionKey: record.recipient,
            key: record.key,
            value: record.value,
            headers: headers,
            timestamp: now.rawValue
        )
    }
}
