import Metrics

/// The lag of each assigned partition while it is assigned.
struct LagGauges {
    private let topic: String
    private var gauges: [Int32: Gauge] = [:]

    init(topic: String) {
        self.topic = topic
    }

    mutating func record(_ lag: Int64, partition: Int32) {
        let gauge =
            gauges[partition]
            ?? Gauge(
                label: "carillon_consumer_lag_records",
                dimensions: [("topic", topic), ("partition", String(partition))]
            )
        gauges[partition] = gauge
        gauge.record(lag)
    }

    mutating func remove(_ partitions: Set<Int32>) {
        for partition in partitions {
            gauges.removeValue(forKey: partition)?.destroy()
        }
    }

    mutating func removeAll() {
        remove(Set(gauges.keys))
    }
}
