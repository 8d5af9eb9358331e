import Foundation

/// A page of `/metrics`: each series by its name with labels, and the sum of a name's series by the name alone.
struct ServiceMetrics {
    private var values: [Substring: Double] = [:]

    /// Requests the page; blocking.
    init(port: Int) throws {
        guard let url = URL(string: "http://127.0.0.1:\(port)/metrics") else {
            throw BenchmarkError("\(port) is no port")
        }
        self.init(page: String(decoding: try Data(contentsOf: url), as: UTF8.self))
    }

    init(page: String) {
        for line in page.split(separator: "\n") where !line.hasPrefix("#") {
            guard let space = line.lastIndex(of: " "), let value = Double(line[line.index(after: space)...]) else {
                continue
            }
            let series = line[..<space]
            let name = series.prefix { $0 != "{" }
            values[name, default: 0] += value
            if name != series { values[series] = value }
        }
    }

    subscript(_ name: String) -> Double? { values[name[...]] }

    /// The last state seen by a failed wait.
    var summary: String {
        ["assigned_partitions", "schedule_pending", "center_entries", "store_unwritten_changes", "outstanding_records"]
            .map { "\($0)=\(Int(self["carillon_\($0)"] ?? -1))" }.joined(separator: " ")
    }

    /// Waits until a service's metrics satisfy a condition; blocking.
    ///
    /// - Parameters:
    ///   - what: names the condition in the error.
    ///   - process: the service.
    ///   - port: of its metrics.
    ///   - time: the longest wait.
    ///   - isSo: the condition.
    /// - Throws: ``BenchmarkError`` when the service ends, or does not satisfy it in time.
    static func wait(
        for what: String,
        of process: SubjectProcess,
        port: Int,
        within time: Duration,
        until isSo: (ServiceMetrics) -> Bool
    ) throws {
        let deadline = ContinuousClock.now.advanced(by: time)
        // Metrics are up to half a second old: two equal readings show that no work is left.
        var seen = 0
        while seen < 2 {
            _ = try process.sample()
            // There is no answer until it listens.
            let metrics = try? ServiceMetrics(port: port)
            seen = metrics.map(isSo) == true ? seen + 1 : 0
            guard ContinuousClock.now < deadline else {
                throw BenchmarkError("the service was not \(what) within \(time): \(metrics?.summary ?? "")")
            }
            Thread.sleep(forTimeInterval: seen == 1 ? 0.6 : 0.1)
        }
    }
}
