/// The Prometheus text format, version 0.0.4.
enum Exposition {
    /// The whole page: families by name, series by labels, so that two scrapes differ only in values.
    static func write(_ page: MetricsPage) -> String {
        var text = ""
        for (name, family) in page.families.sorted(by: { $0.key < $1.key }) {
            text += "# HELP \(name) \(help(family.help))\n# TYPE \(name) \(family.kind.rawValue)\n"
            for (_, lines) in family.series.sorted(by: { $0.key < $1.key }) {
                for line in lines {
                    text += line
                    text += "\n"
                }
            }
        }
        return text
    }

    /// `a="b",c="d"`, sorted by name, values escaped; of equal names the last counts.
    static func labels(_ labels: [(String, String)]) -> String {
        if labels.isEmpty { return "" }
        var byName: [String: String] = [:]
        for (name, value) in labels {
            byName[MetricNames.label(name)] = value
        }
        return byName.sorted { $0.key < $1.key }.map { "\($0.key)=\"\(escaped($0.value))\"" }.joined(separator: ",")
    }

    static func braces(_ labels: String) -> String {
        labels.isEmpty ? "" : "{\(labels)}"
    }

    static func histogram(_ name: String, labels: String, _ cell: HistogramCell) -> [String] {
        let (counts, sum) = cell.value
        let comma = labels.isEmpty ? "" : ","
        var lines: [String] = []
        var count: Int64 = 0
        for (index, inBucket) in counts.enumerated() {
            count += inBucket
            let bound = index < cell.bounds.count ? number(cell.bounds[index]) : "+Inf"
            lines.append("\(name)_bucket{\(labels)\(comma)le=\"\(bound)\"} \(count)")
        }
        lines.append("\(name)_sum\(braces(labels)) \(number(sum))")
        lines.append("\(name)_count\(braces(labels)) \(count)")
        return lines
    }

    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        if let whole = Int64(exactly: value) { return "\(whole)" }
        return "\(value)"
    }

    private static func escaped(_ value: String) -> String {
        var result = ""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\\": result += "\\\\"
            case "\"": result += "\\\""
            case "\n": result += "\\n"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    private static func help(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
