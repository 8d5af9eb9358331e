import Hummingbird
import Kafka
import Logging
import NIOCore
import NotificationModel
import NotificationPublisher
import ServiceHTTP
import ServiceSupport

/// The parts of the service's HTTP API.
extension ProducerService {
    func application(
        _ producer: KafkaProducer,
        _ metrics: ProducerMetrics
    ) throws -> Application<RouteResponder> {
        if security.exposesTokens {
            logger.warning(
                "clients send tokens unencrypted: set http.tls.certificate and http.tls.key, or terminate TLS in front of this service",
                metadata: [LogMetadata.host: "\(configuration.httpHost)"]
            )
        }
        return try listener(metrics).application(routes(producer, metrics), access: security.access) { [self] port in
            httpHealth.ready()
            bound.resolve(.success(port))
        }
    }

    private func routes(_ producer: KafkaProducer, _ metrics: ProducerMetrics) -> [Route] {
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
        let events = EventsHandler(broker: broker, rules: rules, bodyLimit: configuration.eventsBodyBytes)
        let notifications = NotificationsHandler(
            broker: broker,
            defaultApplication: configuration.defaultApplication,
            bodyLimit: configuration.notificationBodyBytes,
            removalLimit: configuration.removalIdentifiers,
            now: now,
            zones: zones,
            makeRequestID: makeRequestID
        )
        return events.routes + notifications.routes
    }

    private func listener(_ metrics: ProducerMetrics) -> GuardedListener {
        let idleTimeout = TimeAmount(configuration.httpIdleTimeout)
        return GuardedListener(
            name: "HTTP API",
            host: configuration.httpHost,
            port: configuration.httpPort,
            connections: connectionLimit(),
            idleTimeout: idleTimeout,
            bounds: ConnectionBounds(
                targetBytes: configuration.targetBytes,
                headerBytes: configuration.headerBytes,
                headerCount: configuration.headerCount,
                receiveTimeout: TimeAmount(configuration.httpReceiveTimeout),
                answerTimeout: TimeAmount(configuration.httpDeadline),
                sendTimeout: idleTimeout,
                unanswered: .unavailable
            ),
            tls: security.tls,
            memory: CallMemory(limit: configuration.callBytes),
            metrics: metrics.http,
            logger: logger
        )
    }

    private func connectionLimit() -> Int {
        let limit = OpenFiles.makeRoom(forConnections: configuration.httpConnections)
        if limit < configuration.httpConnections {
            logger.warning(
                "http.connections was lowered to the process's limit of open files; raise the limit (ulimit -n)",
                metadata: [LogMetadata.count: "\(limit)"]
            )
        }
        return limit
    }
}
