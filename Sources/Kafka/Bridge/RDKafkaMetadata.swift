import CRDKafka

extension RDKafkaHandle {
    /// The number of partitions of a topic, requested from the broker; blocking.
    func partitionCount(of topic: String, within time: Duration) throws(KafkaError) -> Int32 {
        try KafkaError.checkName(topic)
        guard let handle = rd_kafka_topic_new(pointer, topic, nil) else {
            throw KafkaError(rd_kafka_last_error(), doing: "topic \(topic)")
        }
        defer { rd_kafka_topic_destroy(handle) }
        var metadata: UnsafePointer<rd_kafka_metadata>?
        try KafkaError.check(
            rd_kafka_metadata(pointer, 0, handle, &metadata, time.librdkafkaMilliseconds),
            doing: "metadata of topic \(topic)"
        )
        guard let metadata else { throw KafkaError(RD_KAFKA_RESP_ERR__FAIL, doing: "metadata of topic \(topic)") }
        defer { rd_kafka_metadata_destroy(metadata) }
        guard metadata.pointee.topic_cnt > 0 else {
            throw KafkaError(RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, doing: "metadata of topic \(topic)")
        }
        let found = metadata.pointee.topics[0]
        try KafkaError.check(found.err, doing: "metadata of topic \(topic)")
        guard found.partition_cnt > 0 else {
            throw KafkaError(RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, doing: "topic \(topic) has no partitions")
        }
        return found.partition_cnt
    }

    /// The partitions of all topics that the broker knows, by name; does not create topics. Blocking.
    func partitionCounts(within time: Duration) throws(KafkaError) -> [String: Int32] {
        try readTopics(within: time) { $0.partition_cnt }
    }

    /// The topics that the broker knows, by name; does not create topics. Blocking.
    func topics(within time: Duration) throws(KafkaError) -> [String: KafkaAdmin.Topic] {
        try readTopics(within: time) { found in
            let replicas = (0..<Int(found.partition_cnt)).map { Int(found.partitions[$0].replica_cnt) }
            return KafkaAdmin.Topic(partitions: replicas.count, replicas: replicas.min() ?? 0)
        }
    }

    private func readTopics<Description>(
        within time: Duration,
        _ describe: (rd_kafka_metadata_topic) -> Description
    ) throws(KafkaError) -> [String: Description] {
        var metadata: UnsafePointer<rd_kafka_metadata>?
        try KafkaError.check(
            rd_kafka_metadata(pointer, 1, nil, &metadata, time.librdkafkaMilliseconds),
            doing: "metadata of all topics"
        )
        guard let metadata else { throw KafkaError(RD_KAFKA_RESP_ERR__FAIL, doing: "metadata of all topics") }
        defer { rd_kafka_metadata_destroy(metadata) }
        var topics: [String: Description] = [:]
        for index in 0..<Int(metadata.pointee.topic_cnt) {
            let found = metadata.pointee.topics[index]
            guard found.err == RD_KAFKA_RESP_ERR_NO_ERROR, let name = found.topic else { continue }
            topics[String(cString: name)] = describe(found)
        }
        return topics
    }
}
