import Kafka
import NotificationModel
import NotificationPublisher
import ServiceHTTP
import ServiceSupport

/// The parts of the service's HTTP API.
extension ProducerService {
    func routes(_ producer: KafkaProducer, _ metrics: ProducerMetrics) -> [Route] {
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
            signals: configuration.topics.signals,
            devices: configuration.topics.devices,
            categories: configuration.topics.categories,
            ceiling: ceiling,
            deadline: configuration.http.deadline,
            metrics: metrics,
            tracer: tracer,
            logger: logger
        )
        let events = EventsHandler(broker: broker, rules: rules, bodyLimit: configuration.eventsBodyBytes, now: now)
        let notifications = NotificationsHandler(
            broker: broker,
            bodyLimit: configuration.notificationBodyBytes,
            removalLimit: configuration.removalIdentifiers,
            now: now,
            zones: zones,
            makeRequestID: makeRequestID,
            noteUnsaid: { [logger] in metrics.unsaid.note($0, logger) }
        )
        let signals = SignalsHandler(
            broker: broker,
            source: configuration.source,
            now: now,
            makeRequestID: makeRequestID,
            checkAction: { [categories] in categories.set(of: $0)?.knowsAction($1) ?? true }
        )
        let devices = DevicesHandler(
            broker: broker,
            now: now,
            zones: zones
        )
        let categorySets = CategoriesHandler(
            broker: broker,
            table: categories,
            isLoaded: { [categoryReader] in categoryReader.isLoaded }
        )
        return events.routes + notifications.routes + signals.routes + devices.routes + categorySets.routes
            + ContractRoutes.routes(openAPI: PackageResources.openapi_json)
    }
}
