import Hummingbird
import Kafka
import NIOCore
import NotificationModel
import NotificationPublisher
import ServiceHTTP

/// Where a recipient's devices are: `POST /v1/recipients/{recipient}/locations`, with `?application=`.
///
/// A repeated call is harmless without an `Idempotency-Key`, since a device has one location at a time; the key is accepted as
/// for other writes.
struct LocationsHandler: Sendable {
    let broker: BrokerGateway
    let defaultApplication: String
    let source: String
    let now: @Sendable () -> Timestamp
    let makeRequestID: @Sendable () -> NotificationModel.RequestID

    private static let path = "/v1/recipients/{recipient}/locations"

    var routes: [Route] {
        [Route(.post, Self.path, role: .publish) { call, body in try await post(call, &body) }]
    }

    private func post(_ call: Call, _ body: inout CallBody) async throws -> Response {
        let idempotencyKey = try IdempotencyKey.read(call.request.headers)
        let parameters = try call.target.parameters(allowed: ["application"])
        let recipient = try NotificationKey(
            application: parameters["application"] ?? defaultApplication,
            recipient: try call.parameter("recipient"),
            identifier: ""
        )
        guard call.request.mediaType?.isJSONMediaType == true else {
            throw Problem.unsupportedMediaType("application/json")
        }
        var fix = try LocationFix(body: try await body.read(upTo: ModelLimits.signalBytes))
        try fix.checkTime(at: now())
        fix.application = recipient.application
        let record = try LocationRecord(
            fix,
            of: recipient.recipient,
            id: idempotencyKey?.requestID(call.request.method, recipient) ?? makeRequestID(),
            source: source,
            time: now(),
            trace: call.request.traceContext
        )
        let acknowledgement = try await broker.publish(record)
        var json: [UInt8] = []
        JSONWriter.append("{\"topic\":", to: &json)
        JSONWriter.append(string: acknowledgement.topic, to: &json)
        JSONWriter.append(",\"partition\":", to: &json)
        JSONWriter.append(number: acknowledgement.partition, to: &json)
        JSONWriter.append(",\"offset\":", to: &json)
        JSONWriter.append(number: acknowledgement.offset, to: &json)
        JSONWriter.append("}", to: &json)
        return Response(
            status: .accepted,
            headers: [.contentType: "application/json"],
            body: .init(byteBuffer: ByteBuffer(bytes: json))
        )
    }
}
