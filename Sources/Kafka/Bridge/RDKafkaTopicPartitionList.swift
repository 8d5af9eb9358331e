import CRDKafka

/// A list of partitions with offsets, for librdkafka's calls.
///
/// The pointer is only valid inside `withPointer`: Swift may free a noncopyable value after its last use, before a call
/// that received the bare pointer returns.
struct RDKafkaTopicPartitionList: ~Copyable {
    private let pointer: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>

    init(_ offsets: some Collection<(key: KafkaTopicPartition, value: Int64)>) {
        pointer = rd_kafka_topic_partition_list_new(Int32(clamping: offsets.count))
        for (place, offset) in offsets {
            rd_kafka_topic_partition_list_add(pointer, place.topic, place.partition)?.pointee.offset = offset
        }
    }

    init(_ places: some Collection<KafkaTopicPartition>, offset: Int64 = Int64(RD_KAFKA_OFFSET_INVALID)) {
        self.init(places.map { (key: $0, value: offset) })
    }

    deinit { rd_kafka_topic_partition_list_destroy(pointer) }

    borrowing func withPointer<Result>(
        _ body: (UnsafeMutablePointer<rd_kafka_topic_partition_list_t>) -> Result
    ) -> Result {
        body(pointer)
    }

    /// The elements, with the results that librdkafka wrote into them.
    var elements: [(place: KafkaTopicPartition, offset: Int64, error: rd_kafka_resp_err_t)] {
        Self.elements(of: pointer)
    }

    /// The same for a list that librdkafka owns.
    static func elements(
        of list: UnsafePointer<rd_kafka_topic_partition_list_t>
    ) -> [(place: KafkaTopicPartition, offset: Int64, error: rd_kafka_resp_err_t)] {
        (0..<Int(list.pointee.cnt)).map { index in
            let element = list.pointee.elems[index]
            let topic = element.topic.map { String(cString: $0) } ?? ""
            return (KafkaTopicPartition(topic: topic, partition: element.partition), element.offset, element.err)
        }
    }
}
