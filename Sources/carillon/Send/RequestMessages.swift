import Kafka
import NotificationModel
import NotificationPublisher

/// Records for the topic `requests`, as `NotificationPublisher` creates them.
struct RequestMessages: Sendable {
    /// The values for fields missing in the input.
    struct Defaults: Sendable, Hashable {
        var application: String
        var recipient: String?
        var identifier: String?
    }

    private let headers: RequestHeaders
    private let now: @Sendable () -> Timestamp
    private let makeRequestID: @Sendable () -> RequestID

    init(
        source: String,
        now: @escaping @Sendable () -> Timestamp = SystemClock.now,
        makeRequestID: @escaping @Sendable () -> RequestID = { .random() }
    ) {
        headers = RequestHeaders(source: source)
        self.now = now
        self.makeRequestID = makeRequestID
    }

    // MARK: From values

    /// - Parameter time: The record's timestamp, the base of an interval.
    /// - Throws: The error that a reader of the record would find.
    func message(_ request: NotificationRequest, at time: Timestamp) throws(ModelError) -> OutgoingMessage {
        var request = request
        let id = request.requestID ?? makeRequestID()
        request.requestID = id
        return try message(request.json, key: request.key, id: id, isRemoval: false, at: time)
    }

    /// - Throws: The error that a reader of the record would find.
    func message(_ removal: NotificationRemoval) throws(ModelError) -> OutgoingMessage {
        var removal = removal
        let id = removal.requestID ?? makeRequestID()
        removal.requestID = id
        return try message(removal.json, key: removal.key, id: id, isRemoval: true, at: now())
    }

    private func message(
        _ value: [UInt8],
        key: NotificationKey,
        id: RequestID,
        isRemoval: Bool,
        at time: Timestamp
    ) throws(ModelError) -> OutgoingMessage {
        _ = try RequestRecord.scan(value, key: key)
        var buffer = KafkaHeaderBuffer()
        headers.write(key: key, requestID: id, isRemoval: isRemoval, time: time, trace: nil, into: &buffer)
        return OutgoingMessage(
            label: .request(id),
            partitionKey: key.recipientBytes,
            key: key.encoded,
            value: value,
            headers: buffer,
            timestamp: time.rawValue
        )
    }

    // MARK: From JSON

    /// A request, or a removal: an object with `remove`; or a line of `carillon tail --json`.
    ///
    /// - Throws: `ModelError` with the field. Only an explicitly empty identifier means all of a recipient's.
    func message(json: [UInt8], defaults: Defaults) throws(ModelError) -> OutgoingMessage {
        if let line = try TailLine(json: json) { return try message(copying: line) }
        let value = try JSONValue.parse(json)
        guard value.objectValue != nil else { throw ModelError(.invalid, "a request is a JSON object") }
        let key = try NotificationKey(
            application: try Self.text("application", of: value) ?? defaults.application,
            recipient: try Self.required("recipient", of: value, else: defaults.recipient),
            identifier: try Self.required("identifier", of: value, else: defaults.identifier)
        )
        if value["remove"] != nil {
            return try message(NotificationRemoval(json: json, key: key))
        }
        var json = json
        let received = try RequestRecord.receive(&json, key: key)
        var message = try message(NotificationRequest(json: json, key: key), at: now())
        message.notConverted = received.notConverted
        return message
    }

    func message(copying line: TailLine) throws(ModelError) -> OutgoingMessage {
        guard let bytes = line.key else { throw ModelError(.invalid, field: "key", "is missing") }
        let key = try NotificationKey(encoded: bytes)
        var id: RequestID?
        if let value = line.value {
            var value = value
            // As it is, the record goes out again; whoever reads it converts it again.
            switch try RequestRecord.receive(&value, key: key).record {
            case .request(let request): id = request.requestID
            case .removal(let removal): id = removal.requestID
            }
        }
        return OutgoingMessage(
            label: id.map { .request($0) } ?? .record(key: key),
            partitionKey: key.recipientBytes,
            key: bytes,
            value: line.value,
            headers: line.headerBuffer,
            timestamp: line.timestamp
        )
    }

    private static func text(_ field: String, of value: JSONValue) throws(ModelError) -> String? {
        guard let member = value[field] else { return nil }
        guard let text = member.stringValue else { throw ModelError(.invalid, field: field, "must be a string") }
        return text
    }

    private static func required(
        _ field: String,
        of value: JSONValue,
        else default: String?
    ) throws(ModelError) -> String {
        guard let text = try text(field, of: value) ?? `default` else {
            throw ModelError(.invalid, field: field, "is missing: add it, or give --\(field)")
        }
        return text
    }
}
