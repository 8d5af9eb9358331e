import Hummingbird
import Kafka
import NotificationModel
import NotificationPublisher
import ServiceHTTP

/// What a recipient's devices, apps and gateways tell: `POST /v1/recipients/{recipient}/` and `locations`, `responses`,
/// `receipts`, `reports`, `app-states` or `retirements`. All accept `?application=` and `Idempotency-Key`.
///
/// A repeated call is harmless if it has an `Idempotency-Key` or a response its `responseId`: each response is emitted once.
/// The others say how something is, and saying it again changes nothing.
struct SignalsHandler: Sendable {
    let broker: BrokerGateway
    let source: String
    let now: @Sendable () -> Timestamp
    let makeRequestID: @Sendable () -> NotificationModel.RequestID
    /// Whether an application has an action in any of its categories, or had it: a notification keeps its own.
    let checkAction: @Sendable (_ application: String, _ action: String) -> Bool

    private static let paths: [(String, SignalType)] = [
        ("locations", .location), ("responses", .response), ("receipts", .receipt), ("reports", .report),
        ("app-states", .appState), ("retirements", .retirement),
    ]

    var routes: [Route] {
        Self.paths.map { path, type in
            Route(.post, "/v1/recipients/{recipient}/\(path)", role: .signal, allowsRecipients: true) { call, body in
                try await post(type, call, &body)
            }
        }
    }

    private func post(_ type: SignalType, _ call: Call, _ body: inout CallBody) async throws -> Response {
        let idempotencyKey = try IdempotencyKey.read(call)
        _ = try call.target.parameters(allowed: ["application"])
        let recipient = try NotificationKey(
            application: call.application,
            recipient: try call.parameter("recipient"),
            identifier: ""
        )
        guard call.request.mediaType?.isJSONMediaType == true else {
            throw Problem.unsupportedMediaType("application/json")
        }
        let id = idempotencyKey?.signalID(type, recipient) ?? makeRequestID()
        var signal = try Signal(type, body: try await body.read(upTo: ModelLimits.signalBytes), responseID: id)
        signal.application = recipient.application
        let time = now()
        try check(signal, of: recipient.application, at: time)
        let acknowledgement = try await broker.publish(call.request.traceContext) { trace throws(ModelError) in
            try SignalRecord(signal, of: recipient.recipient, id: id, source: source, time: time, trace: trace)
        }
        guard case .response(let response) = signal else { return .accepted(acknowledgement) }
        return .accepted { object, json in
            object.member("responseId", response.responseID, &json)
            object.place(acknowledgement.topic, acknowledgement.partition, acknowledgement.offset, &json)
        }
    }

    private func check(_ signal: Signal, of application: String, at time: Timestamp) throws(ModelError) {
        try signal.checkTime(at: time)
        guard case .response(let response) = signal else { return }
        guard checkAction(application, response.actionIdentifier) else {
            throw ModelError(
                .unknownAction,
                field: "actionIdentifier",
                "no category of the application has this action: use one of them, default or dismiss"
            )
        }
    }
}
