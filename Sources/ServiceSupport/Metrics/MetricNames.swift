/// Converts labels of swift-metrics to names that Prometheus and its linter accept.
enum MetricNames {
    static let prefix = "carillon_"

    /// `kafka.consumer.lag` becomes `carillon_kafka_consumer_lag`.
    static func base(_ label: String) -> String {
        let name = sanitised(label)
        return name.hasPrefix(prefix) ? name : prefix + name
    }

    static func counter(_ label: String) -> String {
        withSuffix(base(label), "_total")
    }

    /// Without the suffixes of counters and histograms.
    static func gauge(_ label: String) -> String {
        var name = base(label)
        for ending in ["_total", "_count", "_sum", "_bucket"] where name.hasSuffix(ending) {
            name.removeLast(ending.count)
        }
        return name
    }

    static func timer(_ label: String) -> String {
        withSuffix(gauge(label), "_seconds")
    }

    /// A label name; `le` is reserved for histograms, and names with the prefix `__` are reserved.
    static func label(_ name: String) -> String {
        var name = sanitised(name)
        while name.hasPrefix("__") { name.removeFirst() }
        return name == "le" ? "label_le" : name
    }

    private static func withSuffix(_ name: String, _ suffix: String) -> String {
        name.hasSuffix(suffix) ? name : name + suffix
    }

    private static func sanitised(_ text: String) -> String {
        var result = ""
        for (index, scalar) in text.unicodeScalars.enumerated() {
            switch scalar {
            case "a"..."z", "A"..."Z", "_": result.unicodeScalars.append(scalar)
            case "0"..."9":
                // A name must not begin with a digit.
                if index == 0 { result += "_" }
                result.unicodeScalars.append(scalar)
            default: result += "_"
            }
        }
        return result.isEmpty ? "_" : result
    }
}
