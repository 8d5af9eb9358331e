import HTTPTypes
import Hummingbird
import Logging
import Metrics
import NotificationChannels
import NotificationModel
import ServiceHTTP
import ServiceLifecycle
import ServiceSupport

/// The server of `carillon receive`.
struct WebhookReceiver: Service {
    /// More than the largest notification with what the event adds.
    private static let bodyBytes = 2 << 20
    /// Of the path, which may be that of the gateway for which it stands.
    private static let segments = 4

    private let listen: HostPort
    private let verifier: WebhookVerifier
    private let http: HTTPInterface

    /// - Throws: for keys that cannot be read or are invalid, and for addresses of other machines.
    init(listen: HostPort, keysFile: String, logger: Logger) throws {
        verifier = try WebhookVerifier(keysFile: keysFile)
        var configuration = HTTPConfiguration(prefix: "listen", port: listen.port)
        configuration.host = listen.host
        self.listen = listen
        http = try HTTPInterface(
            name: "receiver",
            configuration: configuration,
            health: Health().component("receiver"),
            logger: logger
        )
    }

    func run() async throws {
        let metrics = ConnectionMetrics(name: "http", statuses: [], reasons: [], factory: NOOPMetricsHandler.instance)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                let port = try await http.port
                Terminal.write("http://\(HostPort(host: listen.host, port: port))/\n")
            }
            group.addTask {
                try await http.serve(routes, unanswered: .unanswered, metrics, drainTimeout: .seconds(1))
            }
            try await group.waitForAll()
        }
    }

    private var routes: [Route] {
        (1...Self.segments).map { count in
            let path = (1...count).map { "/{segment\($0)}" }.joined()
            return Route(.post, path, role: nil) { call, body in try await receive(call, &body) }
        }
    }

    private func receive(_ call: Call, _ body: inout CallBody) async throws -> Response {
        let bytes = try await body.read(upTo: Self.bodyBytes)
        func header(_ name: String) -> String? { HTTPField.Name(name).flatMap { call.request.headers[$0] } }
        let now = SystemClock.now()
        let event: ReceivedEvent
        do {
            try verifier.check(
                id: header("webhook-id"),
                timestamp: header("webhook-timestamp"),
                signatures: header("webhook-signature"),
                body: bytes,
                at: now
            )
            event = try ReceivedEvent(contentType: header("content-type"), body: bytes)
        } catch let refusal as WebhookRefusal {
            Terminal.write(ReceivedEvent.line(refusing: "\(refusal.header): \(refusal)", at: now))
            throw Problem(.unauthorized, .unauthenticated, "\(refusal)", field: refusal.header)
        } catch let error as ModelError {
            Terminal.write(ReceivedEvent.line(refusing: "\(error)", at: now))
            throw Problem(.badRequest, error.reason, error.detail, field: error.field)
        }
        Terminal.write(event.line(at: now))
        return Response(status: .noContent)
    }
}

extension Problem {
    fileprivate static let unanswered = Problem(.serviceUnavailable, .unavailable, "The request took too long.")
}
