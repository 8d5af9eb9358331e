/// The contents of one scrape. A collector adds values that are computed on demand, for example the lag of a partition.
///
/// Names and labels follow the rules for those of swift-metrics: `kafka.consumer.lag` becomes
/// `carillon_kafka_consumer_lag`.
public struct MetricsPage {
    enum Kind: String {
        case counter, gauge, histogram
    }

    struct Family {
        var kind: Kind
        var help: String
        /// Sample lines by the text of their labels.
        var series: [String: [String]] = [:]
    }

    private(set) var families: [String: Family] = [:]
    private(set) var seriesCount = 0
    private(set) var dropped: Int64 = 0
    private let maximumSeries: Int

    init(maximumSeries: Int) {
        self.maximumSeries = maximumSeries
    }

    /// Adds a gauge.
    ///
    /// - Parameters:
    ///   - label: The name with dots, in base units: `kafka.consumer.lag.records`.
    ///   - help: One sentence.
    ///   - value: The current value.
    ///   - labels: Few labels with few values: never ids of recipients or messages. A second value with the same labels
    ///     replaces the first.
    public mutating func gauge(_ label: String, help: String, value: Double, labels: [(String, String)] = []) {
        add(MetricNames.gauge(label), .gauge, help, labels: labels, value: Exposition.number(value))
    }

    /// Adds a counter, a value that only grows while the process lives; its name gets `_total`.
    ///
    /// - Parameters: As for ``gauge(_:help:value:labels:)``.
    public mutating func counter(_ label: String, help: String, value: Double, labels: [(String, String)] = []) {
        add(MetricNames.counter(label), .counter, help, labels: labels, value: Exposition.number(value))
    }

    // MARK: - For the registry, with finished names

    mutating func add(_ name: String, _ kind: Kind, _ help: String, labels: [(String, String)], value: String) {
        let text = Exposition.labels(labels)
        add(name, kind, help, labelText: text, lines: ["\(name)\(Exposition.braces(text)) \(value)"])
    }

    /// For the one series that must be shown even at the limit.
    mutating func addUnbounded(_ name: String, _ kind: Kind, _ help: String, value: String) {
        families[name] = Family(kind: kind, help: help, series: ["": ["\(name) \(value)"]])
    }

    mutating func add(_ name: String, _ kind: Kind, _ help: String, labelText: String, lines: [String]) {
        var family = families[name] ?? Family(kind: kind, help: help)
        // One name has one type; a second type would make the whole page invalid.
        guard family.kind == kind else {
            dropped += 1
            return
        }
        if family.series[labelText] == nil {
            guard seriesCount < maximumSeries else {
                dropped += 1
                return
            }
            seriesCount += 1
        }
        family.series[labelText] = lines
        families[name] = family
    }
}
