import Metrics
import NotificationModel

/// The lag of each assigned partition while it is assigned.
struct LagGauges {
    private let topics: TopicNames
    private var gauges: [IngestPartition: Gauge] = [:]

    init(topics: TopicNames) {
        self.topics = topics
    }

    mutating func record(_ lag: Int64, partition: IngestPartition) {
        let gauge =
            gauges[partition]
            ?? Gauge(
                label: "carillon_consumer_lag_records",
                dimensions: [
                    ("topic", partition.input.name(in: topics)), ("partition", String(partition.number)),
                ]
            )
        gauges[partition] = gauge
        gauge.record(lag)
    }

    mutating func remove(_ partitions: Set<IngestPartition>) {
        for partition in partitions {
            gauges.removeValue(forKey: partition)?.destroy()
        }
    }

    mutating func removeAll() {
        remove(Set(gauges.keys))
    }
}
