import CoreMetrics
import Logging
import NotificationModel
import ServiceHTTP
import ServiceSupport
import ServiceTracing

/// The HTTP API of the consumer service: queries of what recipients have, and what other parts of the service answer.
struct QueryService: Sendable {
    /// Where lanes say what they own.
    let router = QueryRouter()
    private let http: HTTPInterface
    private let metrics: ConnectionMetrics
    private let routes: [Route]
    private let drainTimeout: Duration

    /// - Parameters:
    ///   - configuration: Of the service.
    ///   - further: Routes besides those of queries, which are there only if the settings enable them.
    ///   - files: That these have open at one time at most.
    ///   - health: Where it reports its readiness.
    ///   - factory: Receives its metrics.
    ///   - clock: The wall clock, for tokens that end.
    ///   - tracer: Gets spans of its calls; nil where nothing is traced.
    ///   - logger: The service's logger.
    /// - Throws: `ListenerSettingsError` that names the problem of the address, the tokens or the certificate.
    init(
        _ configuration: ConsumerServiceConfiguration,
        and further: [Route] = [],
        files: Int = 0,
        health: Health,
        metrics factory: any MetricsFactory,
        clock: @escaping @Sendable () -> Timestamp,
        tracer: Tracer?,
        logger: Logger
    ) throws(ListenerSettingsError) {
        http = try HTTPInterface(
            name: "query API",
            configuration: configuration.queries,
            defaultApplication: configuration.defaultApplication,
            now: clock,
            files: files,
            health: health.component("queries"),
            tracer: tracer,
            logger: logger
        )
        metrics = ConnectionMetrics(
            name: "queries",
            statuses: [200, 206, 304, 400, 401, 403, 404, 405, 408, 414, 416, 421, 431, 500, 503],
            reasons: [
                .invalid, .unknownField, .tooLarge, .notUTF8, .notFound, .methodNotAllowed, .misrouted,
                .unauthenticated, .forbidden, .receiveTimeout, .overloaded, .unavailable, .internalError,
            ],
            factory: factory
        )
        let handler = QueryHandler(router: router, topic: configuration.topics.requests)
        routes =
            (configuration.answersQueries ? handler.routes : []) + further
            + ContractRoutes.routes(openAPI: PackageResources.openapi_json)
        drainTimeout = configuration.drainTimeout
    }

    static func describe(_ registry: PrometheusRegistry) {
        for (name, help) in ConnectionMetrics.descriptions(name: "queries") { registry.describe(name, help) }
    }

    /// The port, once it listens.
    var port: Int {
        get async throws { try await http.port }
    }

    /// Reads its files again; nil without any.
    var reload: (@Sendable () async -> Void)? {
        guard http.hasFiles else { return nil }
        return { [http] in await http.reload() }
    }

    /// Serves until the graceful shutdown.
    func run() async throws {
        try await http.serve(routes, unanswered: .unanswered, metrics, drainTimeout: drainTimeout)
    }

    /// The service ends: nobody waits for the port any more.
    func end() { http.end(CancellationError()) }
}
