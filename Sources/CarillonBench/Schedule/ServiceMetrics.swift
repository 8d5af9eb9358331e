import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A page of `/metrics`: the sum of each series' values by name, whatever its labels.
struct ServiceMetrics {
    private var values: [Substring: Double] = [:]

    /// Asks for it; blocking.
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
            values[line[..<space].prefix { $0 != "{" }, default: 0] += value
        }
    }

    subscript(_ name: String) -> Double? { values[name[...]] }

    /// What a wait that failed had seen last.
    var summary: String {
        ["assigned_partitions", "schedule_pending", "store_unwritten_changes", "outstanding_records"]
            .map { "\($0)=\(Int(self["carillon_\($0)"] ?? -1))" }.joined(separator: " ")
    }
}
