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

    var line: String {
        "latency from business event to delivery event at \(Int(eventsPerSecond)) a second: p50 "
            + "\(PipelineReport.decimals(p50)) ms, p99 \(PipelineReport.decimals(p99)) ms, max "
            + "\(PipelineReport.decimals(maximum)) ms"
    }
}
