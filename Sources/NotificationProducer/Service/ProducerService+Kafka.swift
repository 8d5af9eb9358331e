import Kafka
import ServiceSupport

/// The configurations of the service's Kafka clients.
extension ProducerServiceConfiguration {
    /// For calls: a record that is not acknowledged while the caller waits fails.
    var callProducer: KafkaProducerConfiguration {
        var producer = KafkaProducerConfiguration(
            client: shared.client("carillon-producer-http"),
            deliveryTimeout: http.deadline
        )
        producer.maximumBufferedRecords = httpBufferRecords
        producer.queueFullTimeout = http.deadline
        // Each caller waits for its own record; records that arrive meanwhile still share a batch.
        producer.linger = .zero
        return producer
    }

    package var ingest: IngestConfiguration {
        var producer = KafkaProducerConfiguration(client: shared.client("carillon-producer-ingest"))
        producer.maximumBufferedRecords = ingestBufferRecords
        var consumer = KafkaConsumerConfiguration(client: shared.client("carillon-producer-ingest"), groupID: groupID)
        consumer.tellsEnd = true
        var ingest = IngestConfiguration(
            consumer: consumer,
            producer: producer,
            topics: shared.topics,
            source: shared.source,
            defaultApplication: defaultApplication,
            guarantee: shared.guarantee,
            instanceID: shared.instanceID,
            transactionalID: "\(groupID)-\(shared.instanceID)-ingest"
        )
        ingest.commitInterval = commitInterval
        ingest.drainTimeout = shared.drainTimeout
        return ingest
    }
}
