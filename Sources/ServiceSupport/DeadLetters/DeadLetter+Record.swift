package import Kafka
package import NotificationModel

extension DeadLetter {
    /// The dead letter of a record that was read, ready to be published.
    ///
    /// - Parameters:
    ///   - group: The consumer group that read it.
    ///   - bound: The record size limit.
    ///   - topic: What the link calls `dead-letters`.
    ///   - partitions: How many partitions that topic has.
    package static func record<Topic>(
        of read: KafkaConsumerRecord,
        because error: ModelError,
        group: String?,
        within bound: RecordBound,
        to topic: Topic,
        partitions: Int32,
        tag: UInt
    ) -> LinkRecord<Topic> {
        let origin = Origin(
            topic: read.topic,
            partition: read.partition,
            offset: read.offset,
            timestamp: read.timestamp,
            consumerGroup: group
        )
        let letter = DeadLetter(
            key: read.key,
            value: read.value,
            headers: read.headers.map { ($0.name, $0.value) },
            because: error,
            from: origin,
            within: bound
        )
        var headers = KafkaHeaderBuffer()
        for (name, value) in letter.headers { headers.append(KafkaHeader(name: name, value: value)) }
        return LinkRecord(
            topic: topic,
            partition: origin.deadLetterPartition(of: partitions),
            key: letter.key,
            value: letter.value,
            headers: headers,
            tag: tag
        )
    }
}
