/// From the instant at which a business event was to be published to the one at which its delivery event was read.
struct LatencyResult: Sendable, Encodable {
    var p50: Double
    var p99: Double
    var maximum: Double
    var eventsPerSecond: Double
    var events: Int

    enum CodingKeys: String, CodingKey {
        case p50, p99, events
        case maximum = "max"
        case eventsPerSecond = "events_per_second"
    }

    init(nanoseconds: [UInt64], eventsPerSecond: Double) {
        let sorted = nanoseconds.sorted()
        /// Of the smallest that at least this share does not exceed, in milliseconds.
        func quantile(_ share: Double) -> Double {
            guard !sorted.isEmpty else { return 0 }
            let rank = Int((share * Double(sorted.count)).rounded(.up))
            return Double(sorted[min(max(rank, 1), sorted.count) - 1]) / 1e6
        }
        (p50, p99, maximum) = (quantile(0.5), quantile(0.99), quantile(1))
        self.eventsPerSecond = eventsPerSecond
        events = sorted.count
    }

    var line: String {
        "latency from business event to delivery event at \(Int(eventsPerSecond)) a second: p50 "
            + "\(PipelineReport.decimals(p50)) ms, p99 \(PipelineReport.decimals(p99)) ms, max "
            + "\(PipelineReport.decimals(maximum)) ms"
    }
}
