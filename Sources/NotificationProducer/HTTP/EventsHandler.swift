import HTTPTypes
import Hummingbird
import Kafka
import NIOCore
import NotificationModel
import NotificationPublisher
import ServiceHTTP

/// `POST /v1/events`: CloudEvents in binary, structured and batch mode, published to `business-events` and read from there like
/// any other, so that there is one path. An `Idempotency-Key` must be well-formed and does nothing: an event has an id of its own.
struct EventsHandler: Sendable {
    let broker: BrokerGateway
    let bodyLimit: Int

    private static let mediaTypes =
        "application/cloudevents+json, application/cloudevents-batch+json, or application/json with the attributes in ce- headers"

    func publish(_ call: Call, _ body: inout CallBody) async throws -> Response {
        _ = try call.target.parameters(allowed: [])
        guard isAccepted(call.request.mediaType) else { throw Problem.unsupportedMediaType(Self.mediaTypes) }
        let bytes = try await body.read(upTo: bodyLimit)
        let events = try BusinessEvent.parse(httpHeaders: headers(of: call.request), body: bytes)
        try await broker.publish(
            events.map { event in
                BrokerGateway.Event(
                    key: event.kafkaKey,
                    value: event.kafkaValue,
                    headers: event.kafkaHeaders().map { KafkaHeader(name: $0.name, value: $0.value) }
                )
            }
        )
        return Response(
            status: .accepted,
            headers: [.contentType: "application/json"],
            body: .init(byteBuffer: ByteBuffer(string: "{\"accepted\":\(events.count)}"))
        )
    }

    private func isAccepted(_ mediaType: String?) -> Bool {
        // An event in binary mode may have no data, and then no type of it.
        guard let mediaType else { return true }
        if mediaType.hasPrefix("application/cloudevents") {
            return ["application/cloudevents+json", "application/cloudevents-batch+json"].contains(mediaType)
        }
        return mediaType.isJSONMediaType
    }

    /// A trace context that is none is not passed on.
    private func headers(of request: Request) -> [(name: String, value: String)] {
        let trace = request.traceContext
        var headers: [(name: String, value: String)] = []
        for field in request.headers where !["traceparent", "tracestate"].contains(field.name.canonicalName) {
            headers.append((field.name.canonicalName, field.value))
        }
        if let trace {
            headers.append(("traceparent", trace.traceparent))
            if let tracestate = trace.tracestate { headers.append(("tracestate", tracestate)) }
        }
        return headers
    }
}
