import HTTPTypes
import Hummingbird
import Kafka
import NIOCore
import NotificationModel
import NotificationPublisher
import ServiceHTTP

/// `POST /v1/events`: CloudEvents in binary, structured and batch mode, published to `business-events` and processed
/// from there like any other event. An `Idempotency-Key` must be well-formed but has no effect: an event has its own
/// id.
struct EventsHandler: Sendable {
    let broker: BrokerGateway
    /// The rules of this process, to report what they make of an event; nil if it has none.
    let rules: RuleStore?
    let bodyLimit: Int
    let now: @Sendable () -> Timestamp

    /// Bytes of records that a call may make to find out what becomes of its events.
    private static let verdictBytes = 4 << 20

    private static let batch = "application/cloudevents-batch+json"
    private static let mediaTypes =
        "application/cloudevents+json, application/cloudevents-batch+json, or application/json with the attributes in ce- headers"

    var routes: [Route] {
        [Route(.post, "/v1/events", role: .publish, scope: .handler) { call, body in try await publish(call, &body) }]
    }

    private func publish(_ call: Call, _ body: inout CallBody) async throws -> Response {
        _ = try IdempotencyKey.read(call)
        _ = try call.target.parameters(allowed: [])
        guard isAccepted(call.request.mediaType) else { throw Problem.unsupportedMediaType(Self.mediaTypes) }
        let bytes = try await body.read(upTo: bodyLimit)
        var events = try BusinessEvent.parse(httpHeaders: headers(of: call.request), body: bytes)
        for (index, event) in events.enumerated() {
            do throws(ModelError) {
                try event.checkTypeIsFree()
            } catch {
                throw call.request.mediaType == Self.batch
                    ? ModelError(error.reason, field: "\(index).type", error.detail) : error
            }
        }
        try check(events, of: call.caller)
        let scope = EventScope.headers(of: call.caller.applications)
        let spans = broker.trace(&events)
        let records = events.map { event in
            BrokerGateway.Event(
                key: event.kafkaKey,
                value: event.kafkaValue,
                headers: event.kafkaHeaders().map { KafkaHeader(name: $0.name, value: $0.value) } + scope
            )
        }
        let places = try await broker.traced(spans) { try await broker.publish(records) }
        return Response(
            status: .accepted,
            headers: [.contentType: "application/json"],
            body: .init(
                byteBuffer: ByteBuffer(bytes: answer(events, places, isBatch: call.request.mediaType == Self.batch))
            )
        )
    }

    /// Refuses what the rules of this process would send to an application that the caller's token is not good for. The
    /// process that applies the rules decides again (``EventScope``).
    private func check(_ events: [BusinessEvent], of caller: Caller) throws {
        guard caller.applications != .all, let engine = rules?.engine else { return }
        let time = now()
        for event in events {
            guard case .applied(let outputs, _) = engine.apply(to: event, arrived: time) else { continue }
            guard outputs.allSatisfy({ caller.applications.contains($0.key.application) }) else {
                throw Problem.otherApplication
            }
        }
    }

    /// One object, or a list for a batch.
    private func answer(_ events: [BusinessEvent], _ places: [KafkaAcknowledgement], isBatch: Bool) -> [UInt8] {
        let engine = rules?.engine
        var room = Self.verdictBytes
        var json: [UInt8] = []
        json.reserveCapacity(160 * events.count)
        if isBatch { JSONWriter.append("[", to: &json) }
        for (index, (event, place)) in zip(events, places).enumerated() {
            if index > 0 { JSONWriter.append(",", to: &json) }
            var object = JSONObjectWriter()
            object.member("id", event.id, &json)
            object.place(place.topic, place.partition, place.offset, &json)
            if let engine {
                let trace = event.trace
                let verdict = EventVerdict(of: event, by: engine, at: now(), within: &room) { outputs, failures in
                    broker.effects(outputs, failures: failures, trace: trace)
                }
                verdict.write(to: &object, &json)
            }
            object.end(&json)
        }
        if isBatch { JSONWriter.append("]", to: &json) }
        return json
    }

    private func isAccepted(_ mediaType: String?) -> Bool {
        // An event in binary mode may have no data and then no media type.
        guard let mediaType else { return true }
        if mediaType.hasPrefix("application/cloudevents") {
            return ["application/cloudevents+json", Self.batch].contains(mediaType)
        }
        return mediaType.isJSONMediaType
    }

    /// Passes on valid trace contexts only.
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

extension EventVerdict {
    /// What the rules make of it now; the rules in force when the event is read decide.
    fileprivate func write(to object: inout JSONObjectWriter, _ json: inout [UInt8]) {
        object.member("rules", rules, &json)
        object.member("outcome", outcome?.rawValue, &json)
        object.member("reason", error?.reason.rawValue, &json)
        object.member("field", error?.field, &json)
        object.member("detail", error?.detail, &json)
    }
}
