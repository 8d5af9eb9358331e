import ArgumentParser
import Foundation

/// The figures of two builds of the same benchmarks, of which the runs were made in turn.
struct BuildComparison: Sendable {
    /// One figure of one workload.
    struct Key: Hashable, Comparable, Sendable {
        var benchmark: String
        var workload: String
        /// The members that lead to it: `carillon.cpu_seconds_per_million`.
        var figure: String

        static func < (one: Key, other: Key) -> Bool {
            (one.benchmark, one.workload, one.figure) < (other.benchmark, other.workload, other.figure)
        }
    }

    struct Line: Sendable {
        var key: Key
        /// The medians of the runs.
        var old: Double
        var new: Double
        /// The new one, times the old one.
        var ratio: Double
    }

    let lines: [Line]

    /// - Throws: ``BenchmarkError`` when the builds have no figure in common.
    init(old: [Key: [Double]], new: [Key: [Double]]) throws {
        lines = old.keys.sorted().compactMap { key in
            guard let before = old[key], let after = new[key], let one = Distribution(before).median,
                let other = Distribution(after).median, one != 0,
                // What is the same in every run was given, and not measured.
                Set(before + after).count > 1
            else { return nil }
            return Line(key: key, old: one, new: other, ratio: other / one)
        }
        guard !lines.isEmpty else { throw BenchmarkError("the runs of the two builds have no figure in common") }
    }

    /// A table for each workload.
    var text: String {
        var parts: [String] = []
        var rest = lines[...]
        while let first = rest.first {
            let same = rest.prefix { ($0.key.benchmark, $0.key.workload) == (first.key.benchmark, first.key.workload) }
            rest = rest.dropFirst(same.count)
            let rows = same.map { line in
                [line.key.figure, Self.number(line.old), Self.number(line.new), TextTable.ratio(line.ratio)]
            }
            let table = TextTable.text([["", "old", "new", "new / old"]] + rows)
            parts.append("\(first.key.benchmark): \(first.key.workload)\n\n\(table)")
        }
        return parts.joined(separator: "\n\n")
    }

    private static func number(_ value: Double) -> String {
        String(format: abs(value) >= 1_000 ? "%.0f" : "%.4g", value)
    }

    // MARK: - Saved runs

    /// The values of each figure in output of benchmarks with `--json`, one run per line. It reads what any version wrote.
    ///
    /// - Throws: ``BenchmarkError`` that names the line.
    static func read(_ text: Data, of name: String) throws -> [Key: [Double]] {
        var values: [Key: [Double]] = [:]
        for (index, line) in text.split(separator: UInt8(ascii: "\n")).enumerated() {
            guard let report = try? JSONSerialization.jsonObject(with: Data(line)) as? [String: Any],
                let benchmark = report["benchmark"] as? String, let workloads = report["workloads"] as? [[String: Any]]
            else { throw BenchmarkError("\(name):\(index + 1) is not the output of a benchmark with --json") }
            for workload in workloads {
                for (figure, value) in figures(workload, below: []) {
                    let key = Key(
                        benchmark: benchmark,
                        workload: workload["workload"] as? String ?? "",
                        figure: figure
                    )
                    values[key, default: []].append(value)
                }
            }
        }
        return values
    }

    private static func figures(_ value: Any, below path: [String]) -> [(String, Double)] {
        if let members = value as? [String: Any] {
            return members.flatMap { figures($0.value, below: path + [$0.key]) }
        }
        if let elements = value as? [[String: Any]] {
            return elements.flatMap { element in
                figures(element, below: path.dropLast() + [element["name"] as? String ?? "?"])
            }
        }
        guard let number = value as? NSNumber else { return [] }
        return [(path.joined(separator: "."), number.doubleValue)]
    }
}

/// `carillon-bench builds`.
struct BuildsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "builds",
        abstract: "Compare the figures of two builds, each a file of saved runs.",
        discussion: """
            The ratio of the medians of each figure, the new build's times the old one's. Make the runs on one machine, \
            in turn: deploy/bench compare COMMIT does so.

            Example:
              carillon-bench builds old.jsonl new.jsonl
            """
    )

    @Argument(help: "The file with runs of the old build.", completion: .file())
    var old: String
    @Argument(help: "The file with runs of the new build.", completion: .file())
    var new: String

    func run() throws {
        let files = try [old, new].map { path in
            guard let data = FileManager.default.contents(atPath: path) else {
                throw BenchmarkError("\(path) cannot be read")
            }
            return try BuildComparison.read(data, of: path)
        }
        print(try BuildComparison(old: files[0], new: files[1]).text)
    }
}
