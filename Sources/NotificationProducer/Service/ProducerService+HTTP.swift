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
            ceiling: ceiling,
            deadline: configuration.http.deadline,
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
        let locations = LocationsHandler(
            broker: broker,
            defaultApplication: configuration.defaultApplication,
            source: configuration.source,
            now: now,
            makeRequestID: makeRequestID
        )
        return events.routes + notifications.routes + locations.routes
    }
}
