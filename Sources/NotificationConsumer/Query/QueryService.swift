import CoreMetrics
import Logging
import NotificationModel
import ServiceHTTP
import ServiceSupport

/// The HTTP API for queries of what recipients have.
struct QueryService: Sendable {
    /// Where lanes say what they own.
    let router = QueryRouter()
    private let http: HTTPInterface
    private let metrics: ConnectionMetrics
    private let handler: QueryHandler
    private let drainTimeout: Duration

    /// - Throws: `ListenerSettingsError` that names the problem of the address, the tokens or the certificate.
    init(
        _ configuration: ConsumerServiceConfiguration,
        health: Health,
        metrics factory: any MetricsFactory,
        logger: Logger
    ) throws(ListenerSettingsError) {
        http = try HTTPInterface(
            name: "query API",
            configuration: configuration.queries,
            health: health.component("queries"),
            logger: logger
        )
        metrics = ConnectionMetrics(
            name: "queries",
            statuses: [200, 400, 401, 403, 404, 405, 408, 414, 421, 431, 500, 503],
            reasons: [
                .invalid, .unknownField, .tooLarge, .notUTF8, .notFound, .methodNotAllowed, .misrouted,
                .unauthenticated, .forbidden, .receiveTimeout, .overloaded, .unavailable, .internalError,
            ],
            factory: factory
        )
        handler = QueryHandler(
            router: router,
            topic: configuration.topics.requests,
            defaultApplication: configuration.defaultApplication
        )
        drainTimeout = configuration.drainTimeout
    }

    static func describe(_ registry: PrometheusRegistry) {
        for (name, help) in ConnectionMetrics.descriptions(name: "queries") { registry.describe(name, help) }
    }

    /// The port, once it listens.
    var port: Int {
        get async throws { try await http.port }
    }

    /// Serves until the graceful shutdown.
    func run() async throws {
        try await http.serve(handler.routes, unanswered: .unanswered, metrics, drainTimeout: drainTimeout)
    }

    /// The service ends: nobody waits for the port any more.
    func end() { http.end(CancellationError()) }
}
