import HTTPTypes
import Hummingbird
import NIOCore
import NotificationModel
import NotificationPublisher

/// `PUT` and `DELETE /v1/recipients/{recipient}/notifications/{identifier}`.
struct NotificationsHandler: Sendable {
    let broker: BrokerGateway
    let defaultApplication: String
    let bodyLimit: Int
    let now: @Sendable () -> Timestamp
    let makeRequestID: @Sendable () -> NotificationModel.RequestID

    /// Requests a notification; it replaces one of the same identifier.
    func put(_ request: Request, _ target: RequestTarget, _ received: ReceivedBody) async throws -> Response {
        let key = try key(target, try target.parameters(allowed: ["application"]))
        guard request.mediaType?.isJSONMediaType == true else { throw Problem.unsupportedMediaType("application/json") }
        let body = try received.bytes(upTo: bodyLimit)
        let scanned = try RequestBody.scan(body, key: key)
        try SupportedTriggers.check(scanned.trigger)
        if let expiration = scanned.expiration, expiration <= now() {
            throw ModelError(.invalid, field: "expiration", "is in the past: \(expiration.rfc3339)")
        }
        let id = makeRequestID()
        let record = RequestBody.record(body: body, key: key, requestID: id)
        let receipt = try await broker.publish(
            value: record,
            key: key,
            requestID: id,
            isRemoval: false,
            trace: request.traceContext
        )
        return accepted(receipt)
    }

    /// Cancels what is pending and recalls what was delivered, as `state` says.
    func delete(_ request: Request, _ target: RequestTarget) async throws -> Response {
        let parameters = try target.parameters(allowed: ["application", "state"])
        let key = try key(target, parameters)
        let state = parameters["state"] ?? RemovalScope.all.rawValue
        guard let scope = RemovalScope(rawValue: state) else {
            throw ModelError(.invalid, field: "state", "must be pending, delivered or all")
        }
        let id = makeRequestID()
        let receipt = try await broker.publish(
            value: RequestBody.removal(scope: scope, requestID: id),
            key: key,
            requestID: id,
            isRemoval: true,
            trace: request.traceContext
        )
        return accepted(receipt)
    }

    private func key(_ target: RequestTarget, _ parameters: [String: String]) throws(ModelError) -> NotificationKey {
        let recipient = try RequestTarget.decode(target.segments[2], field: "recipient")
        let identifier = try RequestTarget.decode(target.segments[4], field: "identifier")
        guard !identifier.isEmpty else {
            // In a key an empty identifier means all of the recipient's.
            throw ModelError(.invalid, field: "identifier", "must not be empty")
        }
        return try NotificationKey(
            application: parameters["application"] ?? defaultApplication,
            recipient: recipient,
            identifier: identifier
        )
    }

    private func accepted(_ receipt: NotificationPublisher.Receipt) -> Response {
        var json: [UInt8] = []
        JSONWriter.append("{\"requestId\":\"", to: &json)
        receipt.requestID.write(to: &json)
        JSONWriter.append("\",\"topic\":", to: &json)
        JSONWriter.append(string: receipt.topic, to: &json)
        JSONWriter.append(",\"partition\":", to: &json)
        JSONWriter.append(number: receipt.partition, to: &json)
        JSONWriter.append(",\"offset\":", to: &json)
        JSONWriter.append(number: receipt.offset, to: &json)
        JSONWriter.append("}", to: &json)
        return Response(
            status: .accepted,
            headers: [.contentType: "application/json"],
            body: .init(byteBuffer: ByteBuffer(bytes: json))
        )
    }
}

extension Request {
    /// What the caller sent of a trace; anything that is not a trace context is ignored.
    var traceContext: TraceContext? {
        TraceContext(traceparent: header("traceparent"), tracestate: header("tracestate"))
    }

    private func header(_ name: String) -> String? {
        HTTPField.Name(name).flatMap { headers[$0] }
    }
}
