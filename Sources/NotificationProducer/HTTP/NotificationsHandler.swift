import HTTPTypes
import Hummingbird
import NIOCore
import NotificationModel
import NotificationPublisher
import ServiceHTTP

/// Requests and removals of a recipient's notifications:
///
/// - `PUT /v1/recipients/{recipient}/notifications/{identifier}`
/// - `POST /v1/recipients/{recipient}/notifications`: the identifier is made, and answered with `Location`
/// - `DELETE /v1/recipients/{recipient}/notifications/{identifier}?state=pending|delivered|all`
/// - `DELETE /v1/recipients/{recipient}/notifications?state=…[&identifier=a&identifier=b]`: of all when none is named
///
/// All take `?application=` and `Idempotency-Key`.
struct NotificationsHandler: Sendable {
    let broker: BrokerGateway
    let defaultApplication: String
    let bodyLimit: Int
    /// Identifiers of one call.
    let removalLimit: Int
    let now: @Sendable () -> Timestamp
    let makeRequestID: @Sendable () -> NotificationModel.RequestID

    /// What a record that waits for the broker takes besides its bytes, about.
    private static let recordOverhead = 1_024

    private static let ofRequest = ["application"]
    private static let ofRemoval = ["application", "state"]

    // MARK: Requests

    /// Requests a notification; it replaces one of the same identifier.
    func put(_ call: Call, _ body: inout CallBody) async throws -> Response {
        let parameters = try call.target.parameters(allowed: Self.ofRequest)
        let receipt = try await request(call, &body, try key(call.target, parameters, try identifier(of: call.target)))
        return accepted { append(receipt, to: &$0) }
    }

    /// Requests a notification under an identifier that nobody else has.
    func post(_ call: Call, _ body: inout CallBody) async throws -> Response {
        let parameters = try call.target.parameters(allowed: Self.ofRequest)
        let recipient = try key(call.target, parameters, "")
        let identifier =
            call.idempotencyKey?.identifier(recipient) ?? NotificationModel.RequestID.random().description
        let receipt = try await request(call, &body, try key(call.target, parameters, identifier))
        var location = "/v1/recipients/\(PercentEncoding.encode(recipient.recipient))/notifications/\(identifier)"
        if let application = parameters["application"] {
            location += "?application=\(PercentEncoding.encode(application))"
        }
        var response = accepted { json in
            JSONWriter.append("\"identifier\":", to: &json)
            JSONWriter.append(string: identifier, to: &json)
            JSONWriter.append(",", to: &json)
            append(receipt, to: &json)
        }
        response.headers[.location] = location
        return response
    }

    private func request(
        _ call: Call,
        _ body: inout CallBody,
        _ key: NotificationKey
    ) async throws -> NotificationPublisher.Receipt {
        guard call.request.mediaType?.isJSONMediaType == true else {
            throw Problem.unsupportedMediaType("application/json")
        }
        let bytes = try await body.read(upTo: bodyLimit)
        let scanned = try RequestBody.scan(bytes, key: key)
        try SupportedTriggers.check(scanned.trigger)
        if let expiration = scanned.expiration, expiration <= now() {
            throw ModelError(.invalid, field: "expiration", "is in the past: \(expiration.rfc3339)")
        }
        try broker.checkContent(scanned.content.count)
        let id = requestID(call, key)
        let record = RequestBody.record(body: bytes, key: key, requestID: id)
        guard record.count <= ModelLimits.requestBytes else {
            // A body at its bound, and what the record says of it besides.
            let bound = bytes.count - (record.count - ModelLimits.requestBytes)
            throw ModelError(.tooLarge, "with its key the body may have \(bound) bytes, and it has \(bytes.count)")
        }
        return try await broker.publish(
            .init(value: record, key: key, requestID: id, isRemoval: false),
            trace: call.request.traceContext
        )
    }

    // MARK: Removals

    /// Cancels what is pending and recalls what was delivered, as `state` says.
    func delete(_ call: Call) async throws -> Response {
        let parameters = try call.target.parameters(allowed: Self.ofRemoval)
        let key = try key(call.target, parameters, try identifier(of: call.target))
        return try await remove(call, key, try scope(parameters))
    }

    /// The same of several notifications, one record each, side by side; or of all of the recipient's in one record.
    func deleteSeveral(_ call: Call, _ body: inout CallBody) async throws -> Response {
        let parameters = try call.target.parameters(allowed: Self.ofRemoval, repeatable: "identifier")
        let scope = try scope(parameters)
        guard !parameters.repeated.isEmpty else {
            return try await remove(call, try key(call.target, parameters, ""), scope)
        }
        // Compared as keys: texts that only look alike are not the same notification.
        var known: Set<NotificationKey> = []
        var removals: [(identifier: String, record: BrokerGateway.Record)] = []
        for identifier in parameters.repeated {
            let key = try key(call.target, parameters, try Self.named(identifier))
            guard known.insert(key).inserted else { continue }
            guard removals.count < removalLimit else {
                throw ModelError(
                    .tooLarge,
                    field: "identifier",
                    "one call removes at most \(removalLimit) notifications; make several, or remove all of the recipient's"
                )
            }
            let record = removal(call, key, scope)
            // A small call that makes much.
            try body.take(record.value.count + key.encoded.count + Self.recordOverhead)
            removals.append((identifier, record))
        }
        let receipts = try await broker.publish(removals.map(\.record), trace: call.request.traceContext)
        return accepted { json in
            JSONWriter.append("\"removals\":[", to: &json)
            for (index, receipt) in receipts.enumerated() {
                JSONWriter.append(index == 0 ? "{\"identifier\":" : ",{\"identifier\":", to: &json)
                JSONWriter.append(string: removals[index].identifier, to: &json)
                JSONWriter.append(",", to: &json)
                append(receipt, to: &json)
                JSONWriter.append("}", to: &json)
            }
            JSONWriter.append("]", to: &json)
        }
    }

    private func remove(_ call: Call, _ key: NotificationKey, _ scope: RemovalScope) async throws -> Response {
        let receipt = try await broker.publish(removal(call, key, scope), trace: call.request.traceContext)
        return accepted { append(receipt, to: &$0) }
    }

    private func removal(_ call: Call, _ key: NotificationKey, _ scope: RemovalScope) -> BrokerGateway.Record {
        let id = requestID(call, key)
        return .init(value: RequestBody.removal(scope: scope, requestID: id), key: key, requestID: id, isRemoval: true)
    }

    private func scope(_ parameters: RequestTarget.Parameters) throws(ModelError) -> RemovalScope {
        guard let state = parameters["state"] else { return .all }
        guard let scope = RemovalScope(rawValue: state) else {
            throw ModelError(.invalid, field: "state", "must be pending, delivered or all")
        }
        return scope
    }

    // MARK: Keys and ids

    private func identifier(of target: RequestTarget) throws(ModelError) -> String {
        try Self.named(try RequestTarget.decode(target.segments[4], field: "identifier"))
    }

    /// In a key an empty identifier means all of the recipient's: nobody may say that by leaving something out.
    private static func named(_ identifier: String) throws(ModelError) -> String {
        guard !identifier.isEmpty else { throw ModelError(.invalid, field: "identifier", "must not be empty") }
        return identifier
    }

    private func key(
        _ target: RequestTarget,
        _ parameters: RequestTarget.Parameters,
        _ identifier: String
    ) throws(ModelError) -> NotificationKey {
        try NotificationKey(
            application: parameters["application"] ?? defaultApplication,
            recipient: try RequestTarget.decode(target.segments[2], field: "recipient"),
            identifier: identifier
        )
    }

    private func requestID(_ call: Call, _ key: NotificationKey) -> NotificationModel.RequestID {
        call.idempotencyKey?.requestID(call.request.method, key) ?? makeRequestID()
    }

    // MARK: Answers

    private func accepted(_ write: (inout [UInt8]) -> Void) -> Response {
        var json: [UInt8] = []
        json.reserveCapacity(160)
        JSONWriter.append("{", to: &json)
        write(&json)
        JSONWriter.append("}", to: &json)
        return Response(
            status: .accepted,
            headers: [.contentType: "application/json"],
            body: .init(byteBuffer: ByteBuffer(bytes: json))
        )
    }

    private func append(_ receipt: NotificationPublisher.Receipt, to json: inout [UInt8]) {
        JSONWriter.append("\"requestId\":\"", to: &json)
        receipt.requestID.write(to: &json)
        JSONWriter.append("\",\"topic\":", to: &json)
        JSONWriter.append(string: receipt.topic, to: &json)
        JSONWriter.append(",\"partition\":", to: &json)
        JSONWriter.append(number: receipt.partition, to: &json)
        JSONWriter.append(",\"offset\":", to: &json)
        JSONWriter.append(number: receipt.offset, to: &json)
    }
}

extension Request {
    private static let traceparent = HTTPField.Name("traceparent")
    private static let tracestate = HTTPField.Name("tracestate")

    /// What the caller sent of a trace; anything that is not a trace context is ignored.
    var traceContext: TraceContext? {
        guard let name = Self.traceparent, let traceparent = headers[name] else { return nil }
        return TraceContext(traceparent: traceparent, tracestate: Self.tracestate.flatMap { headers[$0] })
    }
}
