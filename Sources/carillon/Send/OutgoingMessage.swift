import Kafka
import NotificationModel

/// A record to publish, and its label in reports.
struct OutgoingMessage: Sendable {
    var label: MessageLabel
    /// The input of the partition rule.
    var partitionKey: [UInt8]
    var key: [UInt8]?
    var value: [UInt8]?
    var headers: KafkaHeaderBuffer
    /// Milliseconds since 1970; the base of an interval.
    var timestamp: Int64?
    /// Nil for the topic of the command.
    var topic: String?
    /// What of a payload of APNs no content says.
    var notConverted: [String] = []
}

/// The label of an acknowledged record.
enum MessageLabel: Hashable, Sendable {
    case request(RequestID)
    /// A record without its own id.
    case record(key: NotificationKey)
    case event(id: String, source: String)
    /// What goes to the topic that it came from.
    case deadLetter(RecordPlace, topic: String)

    /// The topic, where the command has several.
    var topic: String? {
        if case .deadLetter(_, let topic) = self { topic } else { nil }
    }

    /// The field of the id.
    var field: String {
        switch self {
        case .request: "requestId"
        case .record: "key"
        case .event: "id"
        case .deadLetter: "deadLetter"
        }
    }

    /// The label's members in a line of JSON.
    var members: [JSONValue.Member] {
        switch self {
        case .request(let id): [.init("requestId", .string(id.description))]
        case .record(let key): [.init("key", .string(key.description))]
        case .event(let id, let source): [.init("id", .string(id)), .init("source", .string(source))]
        case .deadLetter(let place, _): [.init("deadLetter", .string("\(place)"))]
        }
    }
}

extension MessageLabel: CustomStringConvertible {
    var description: String {
        switch self {
        case .request(let id): "request \(RecordText.safe(id.description))"
        case .record(let key): "record \(key)"
        case .event(let id, let source): "event \(RecordText.safe(id)) of \(RecordText.safe(source))"
        case .deadLetter(let place, _): "dead letter \(place)"
        }
    }
}

/// The source of a command's messages.
protocol MessageSource: SendableMetatype {
    /// The number of messages; nil if only the input determines it.
    var total: Int? { get }

    /// Messages that were found but not created, or cannot be.
    var left: Int { get }

    /// Looks for the next message.
    ///
    /// - Parameter time: How long to wait for input.
    mutating func next(within time: Duration) throws(CommandFailure) -> SourceStep

    /// Creates the found message. A message contains its creation time, so call this directly before sending.
    mutating func make() throws(ModelError) -> OutgoingMessage
}

enum SourceStep: Sendable, Equatable {
    /// A message at this position of the input.
    case found(place: String)
    /// The input at this position cannot be sent.
    case refused(place: String, ModelError)
    case nothingYet
    case end
}

/// Messages created from a command's options, each from its number.
struct NumberedMessages: MessageSource {
    private let count: Int
    private let body: (_ number: Int) throws(ModelError) -> OutgoingMessage
    private var made = 0

    init(count: Int, make: @escaping (_ number: Int) throws(ModelError) -> OutgoingMessage) {
        self.count = count
        body = make
    }

    var total: Int? { count }
    var left: Int { count - made }

    func next(within time: Duration) -> SourceStep {
        made < count ? .found(place: "number \(made + 1)") : .end
    }

    mutating func make() throws(ModelError) -> OutgoingMessage {
        made += 1
        return try body(made)
    }
}

/// Messages read from JSON, each repeated as requested.
struct ReadMessages: MessageSource {
    private var input: JSONInput
    /// Nil without `--count`: `{n}` is then not replaced.
    private let copies: Int?
    private let body: ([UInt8]) throws(ModelError) -> OutgoingMessage
    private var current: (place: String, value: [UInt8])?
    /// Copies created from the current value.
    private var made = 0
    /// Copies of refused values.
    private var dropped = 0
    private var lastLabel: MessageLabel?

    init(
        _ input: JSONInput,
        copies: Int?,
        make: @escaping ([UInt8]) throws(ModelError) -> OutgoingMessage
    ) {
        self.input = input
        self.copies = copies
        body = make
    }

    var total: Int? { nil }

    var left: Int {
        let copies = copies ?? 1
        return dropped + (current == nil ? 0 : copies - made) + input.elementsLeft * copies
    }

    mutating func next(within time: Duration) throws(CommandFailure) -> SourceStep {
        if let current, made < copies ?? 1 { return .found(place: current.place) }
        (current, made, lastLabel) = (nil, 0, nil)
        switch try input.next(within: time) {
        case .nothingYet: return .nothingYet
        case .end: return .end
        case .refused(let place, let error):
            dropped += (copies ?? 1) - 1
            return .refused(place: place, error)
        case .value(let place, let value):
            current = (place, value)
            return .found(place: place)
        }
    }

    mutating func make() throws(ModelError) -> OutgoingMessage {
        guard let value = current?.value else { throw ModelError(.invalid, "no message was found") }
        made += 1
        do throws(ModelError) {
            let message = try body(copies == nil ? value : Placeholder.filled(value, made))
            guard message.label != lastLabel else {
                throw ModelError(
                    .invalid,
                    field: message.label.field,
                    "is the same in every copy, so all but the first would be dropped: add {n} to it"
                )
            }
            lastLabel = message.label
            return message
        } catch {
            // The other copies would fail too.
            dropped += (copies ?? 1) - made
            current = nil
            throw error
        }
    }
}
