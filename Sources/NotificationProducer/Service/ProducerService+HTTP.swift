import Hummingbird
import HummingbirdCore
import HummingbirdTLS
import Kafka
import Logging
import NIOCore
import NotificationModel
import NotificationPublisher
import ServiceHTTP
import ServiceSupport

/// What the service's HTTP API is made of.
extension ProducerService {
    func application(
        _ producer: KafkaProducer,
        _ metrics: ProducerMetrics
    ) throws -> Application<ProducerAPI> {
        let memory = CallMemory(limit: configuration.callBytes)
        var quiet = logger
        // The framework's own notices would only repeat ours.
        quiet.logLevel = max(logger.logLevel, .warning)
        return Application(
            responder: api(producer, memory, metrics),
            server: try server(memory, metrics),
            configuration: .init(
                address: .hostname(configuration.httpHost, port: configuration.httpPort),
                backlog: 1_024,
                availableConnectionsDelegate: CountedConnections(limit: connectionLimit(), metrics: metrics.http)
            ),
            onServerRunning: { [self] channel in
                await AcceptFailures.watch(channel, of: "HTTP API", logger: logger, metrics: metrics.http)
                listens(on: channel.localAddress?.port ?? configuration.httpPort)
            },
            logger: quiet
        )
    }

    private func api(
        _ producer: KafkaProducer,
        _ memory: CallMemory,
        _ metrics: ProducerMetrics
    ) -> ProducerAPI {
        let publisher = NotificationPublisher(
            producer: producer,
            configuration: .init(topic: configuration.topics.requests, source: configuration.source),
            now: now
        )
        let broker = BrokerGateway(
            producer: producer,
            publisher: publisher,
            requests: configuration.topics.requests,
            businessEvents: configuration.topics.businessEvents,
            ceiling: ceiling,
            deadline: configuration.httpDeadline,
            metrics: metrics,
            logger: logger
        )
        return ProducerAPI(
            events: EventsHandler(broker: broker, rules: rules, bodyLimit: configuration.eventsBodyBytes),
            notifications: NotificationsHandler(
                broker: broker,
                defaultApplication: configuration.defaultApplication,
                bodyLimit: configuration.notificationBodyBytes,
                removalLimit: configuration.removalIdentifiers,
                now: now,
                makeRequestID: makeRequestID
            ),
            host: configuration.httpHost,
            tokens: security.tokens,
            memory: memory,
            metrics: metrics,
            logger: logger
        )
    }

    private func server(_ memory: CallMemory, _ metrics: ProducerMetrics) throws -> HTTPServerBuilder {
        let idleTimeout = TimeAmount(configuration.httpIdleTimeout)
        let bounds = ConnectionBounds(
            targetBytes: configuration.targetBytes,
            headerBytes: configuration.headerBytes,
            headerCount: configuration.headerCount,
            receiveTimeout: TimeAmount(configuration.httpReceiveTimeout),
            answerTimeout: TimeAmount(configuration.httpDeadline),
            sendTimeout: idleTimeout,
            unanswered: .unavailable
        )
        let isTLS = security.tls != nil
        let http = HTTPServerBuilder { responder in
            GuardedChannel(
                responder: responder,
                bounds: bounds,
                idleTimeout: idleTimeout,
                isTLS: isTLS,
                memory: memory,
                metrics: metrics.http
            )
        }
        guard let tls = security.tls else {
            if security.tokens != nil, !ListenerSecurity.isLoopback(configuration.httpHost) {
                logger.warning(
                    "tokens come in the clear: set http.tls.certificate and http.tls.key, or end TLS before this service",
                    metadata: [LogMetadata.host: "\(configuration.httpHost)"]
                )
            }
            return http
        }
        return try .tls(http, tlsConfiguration: tls)
    }

    private func connectionLimit() -> Int {
        let limit = OpenFiles.makeRoom(forConnections: configuration.httpConnections)
        if limit < configuration.httpConnections {
            logger.warning(
                "http.connections is lowered: the process may not open as many files; raise its limit (ulimit -n)",
                metadata: [LogMetadata.count: "\(limit)"]
            )
        }
        return limit
    }

    private func listens(on port: Int) {
        logger.info(
            "HTTP API listens",
            metadata: [LogMetadata.host: "\(configuration.httpHost)", LogMetadata.port: "\(port)"]
        )
        httpHealth.ready()
        bound.resolve(.success(port))
    }
}
