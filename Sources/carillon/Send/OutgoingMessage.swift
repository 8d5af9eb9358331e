import Kafka
import NotificationModel

/// A record to publish, and what is said of it.
struct OutgoingMessage: Sendable {
    var label: MessageLabel
    /// What decides its partition.
    var partitionKey: [UInt8]
    var key: [UInt8]?
    var value: [UInt8]?
    var headers: KafkaHeaderBuffer
    /// Milliseconds since 1970: an interval counts from it.
    var timestamp: Int64?
}

/// What a record is called when the broker has acknowledged it.
enum MessageLabel: Hashable, Sendable {
    case request(RequestID)
    /// One without an id of its own.
    case record(key: NotificationKey)
    case event(id: String, source: String)

    /// The field with the id.
    var field: String {
        switch self {
        case .request: "requestId"
        case .record: "key"
        case .event: "id"
        }
    }

    /// Its members in a line of JSON.
    var members: [JSONValue.Member] {
        switch self {
        case .request(let id): [.init("requestId", .string(id.description))]
        case .record(let key): [.init("key", .string(key.description))]
        case .event(let id, let source): [.init("id", .string(id)), .init("source", .string(source))]
        }
    }
}

extension MessageLabel: CustomStringConvertible {
    var description: String {
        switch self {
        case .request(let id): "request \(RecordText.safe(id.description))"
        case .record(let key): "record \(key)"
        case .event(let id, let source): "event \(RecordText.safe(id)) of \(RecordText.safe(source))"
        }
    }
}

/// Where the messages of a command come from.
protocol MessageSource: SendableMetatype {
    /// How many there will be; nil when only the input knows.
    var total: Int? { get }

    /// Messages of what was found so far that are not made, or never will be.
    var left: Int { get }

    /// Looks for the next message.
    ///
    /// - Parameter time: How long to wait when the input has nothing yet.
    mutating func next(within time: Duration) throws(CommandFailure) -> SourceStep

    /// Makes what was found; a message says when it was made, so this comes right before it is sent.
    mutating func make() throws(ModelError) -> OutgoingMessage
}

enum SourceStep: Sendable, Equatable {
    /// There is one at that place of the input.
    case found(place: String)
    /// What is at that place cannot be sent.
    case refused(place: String, ModelError)
    case nothingYet
    case end
}

/// Messages made of the options of a command, each from its number.
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

/// Messages read from JSON, each as often as asked.
struct ReadMessages: MessageSource {
    private var input: JSONInput
    /// Nil without `--count`: `{n}` is then no placeholder.
    private let copies: Int?
    private let body: ([UInt8]) throws(ModelError) -> OutgoingMessage
    private var current: (place: String, value: [UInt8])?
    /// Of the current value.
    private var made = 0
    /// Copies of values that were refused.
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
        guard let value = current?.value else { throw ModelError(.invalid, "nothing was found") }
        made += 1
        do throws(ModelError) {
            let message = try body(copies == nil ? value : Placeholder.filled(value, made))
            guard message.label != lastLabel else {
                throw ModelError(
                    .invalid,
                    field: message.label.field,
                    "is the same in every copy, and all but the first would be dropped: write {n} into it"
                )
            }
            lastLabel = message.label
            return message
        } catch {
            // The other copies are not better.
            dropped += (copies ?? 1) - made
            current = nil
            throw error
        }
    }
}
