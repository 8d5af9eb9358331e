/// What `carillon bench deviation` prints.
struct DeviationReport: Encodable {
    /// At the hand-over, in milliseconds.
    struct Lateness: Encodable {
        var minimum: Int64
        var p50: Int64
        var p99: Int64
        var maximum: Int64
        var events: Int

        enum CodingKeys: String, CodingKey {
            case minimum = "min"
            case p50, p99
            case maximum = "max"
            case events
        }

        init(_ milliseconds: [Int64]) {
            let sorted = milliseconds.sorted()
            /// The smallest that at least this share does not exceed.
            func quantile(_ share: Double) -> Int64 {
                guard !sorted.isEmpty else { return 0 }
                let rank = Int((share * Double(sorted.count)).rounded(.up))
                return sorted[min(max(rank, 1), sorted.count) - 1]
            }
            (minimum, p50, p99, maximum) = (quantile(0), quantile(0.5), quantile(0.99), quantile(1))
            events = sorted.count
        }

        fileprivate func row(_ name: String) -> [String] {
            [name, "\(events)", "\(minimum)", "\(p50)", "\(p99)", "\(maximum)"]
        }
    }

    var benchmark = "deviation"
    var pending: Int
    var perSecond: Int
    var seconds: Int
    var spread: Lateness
    var burst: Lateness

    enum CodingKeys: String, CodingKey {
        case benchmark, pending, seconds
        case perSecond = "per_second"
        case spread = "spread_ms"
        case burst = "burst_ms"
    }

    var table: String {
        TextTable.text([
            ["lateness in ms, \(pending) more pending", "timers", "min", "p50", "p99", "max"],
            spread.row("\(perSecond) a second for \(seconds) s"), burst.row("at one instant"),
        ])
    }
}
