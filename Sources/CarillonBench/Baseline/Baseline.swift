import Foundation

/// The ratios for comparisons with later runs: a file in the repository.
struct Baseline: Sendable {
    /// Its path in a clone.
    static let path = "deploy/bench-baseline.json"
    /// The usual difference between runs of the same program.
    static let leastTolerance = 0.15

    struct Entry: Codable, Hashable, Sendable {
        /// The median of the runs.
        var ratio: Double
        /// As a share of the ratio: worse runs are reported.
        var tolerance: Double
        /// The number of runs behind it.
        var runs: Int
    }

    var entries: [RatioKey: Entry] = [:]

    /// Replaces ratios with those of new runs; other ratios stay. The tolerance is the largest difference of the runs
    /// from their median, and at least ``leastTolerance``.
    mutating func update(from runs: [SavedRun]) {
        for (key, values) in runs.ratios {
            guard let median = values.median, let minimum = values.minimum, let maximum = values.maximum, median > 0
            else { continue }
            let difference = max(maximum - median, median - minimum) / median
            entries[key] = Entry(
                ratio: Self.rounded(median, .toNearestOrAwayFromZero, 10_000),
                tolerance: max(Self.leastTolerance, Self.rounded(difference, .up, 100)),
                runs: values.count
            )
        }
    }

    private static func rounded(_ value: Double, _ rule: FloatingPointRoundingRule, _ scale: Double) -> Double {
        (value * scale).rounded(rule) / scale
    }
}

// MARK: - The file

extension Baseline: Codable {
    /// By benchmark, workload and ratio.
    private typealias Members = [String: [String: [Ratio: Entry]]]

    init(from decoder: any Decoder) throws {
        for (benchmark, workloads) in try Members(from: decoder) {
            for (workload, ratios) in workloads {
                for (ratio, entry) in ratios {
                    entries[RatioKey(benchmark: benchmark, workload: workload, ratio: ratio)] = entry
                }
            }
        }
    }

    func encode(to encoder: any Encoder) throws {
        var members: Members = [:]
        for (key, entry) in entries {
            members[key.benchmark, default: [:]][key.workload, default: [:]][key.ratio] = entry
        }
        try members.encode(to: encoder)
    }

    /// - Throws: ``BenchmarkError`` when the file contains no baseline.
    init(path: String) throws {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw BenchmarkError("no baseline at \(path): run this in the clone's directory, or give --baseline")
        }
        do {
            self = try JSONDecoder().decode(Baseline.self, from: data)
        } catch {
            throw BenchmarkError("\(path) is not a baseline of this version: \(error)")
        }
    }

    func write(to path: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            try (encoder.encode(self) + Data("\n".utf8)).write(to: URL(fileURLWithPath: path), options: .atomic)
        } catch {
            throw BenchmarkError("\(path) cannot be written: \(error.localizedDescription)")
        }
    }
}

/// The part of a report saved with `--json` that comparisons need.
struct SavedRun: Decodable, Sendable {
    struct Workload: Decodable, Sendable {
        var name: String
        var ratios: [Ratio: Double]

        enum CodingKeys: String, CodingKey {
            case name = "workload"
            case ratios
        }
    }

    var benchmark: String
    var workloads: [Workload]

    /// Reads files with one report per line.
    ///
    /// - Parameter paths: `-` is standard input.
    /// - Throws: ``BenchmarkError`` that names the file and line.
    static func read(_ paths: [String]) throws -> [SavedRun] {
        try paths.flatMap { path in
            let name = path == "-" ? "standard input" : path
            guard
                let data = path == "-"
                    ? try FileHandle.standardInput.readToEnd() : FileManager.default.contents(atPath: path)
            else { throw BenchmarkError("\(name) cannot be read") }
            let runs = try read(lines: data, of: name)
            guard !runs.isEmpty else {
                throw BenchmarkError("\(name) is empty: save runs with carillon-bench NAME --json")
            }
            return runs
        }
    }

    static func read(lines: Data, of name: String) throws -> [SavedRun] {
        try lines.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated()
            .filter { !$0.element.allSatisfy { UInt8(ascii: " ") == $0 || UInt8(ascii: "\r") == $0 } }
            .map { number, line in
                do {
                    return try JSONDecoder().decode(SavedRun.self, from: Data(line))
                } catch {
                    throw BenchmarkError(
                        "\(name):\(number + 1) is not output of this version's carillon-bench NAME --json, one run per line"
                    )
                }
            }
    }
}

/// A ratio of one workload of one benchmark.
struct RatioKey: Hashable, Comparable, Sendable {
    var benchmark: String
    var workload: String
    var ratio: Ratio

    static func < (one: RatioKey, other: RatioKey) -> Bool {
        (one.benchmark, one.workload, one.ratio) < (other.benchmark, other.workload, other.ratio)
    }
}

extension [SavedRun] {
    /// The measured values of each ratio.
    var ratios: [RatioKey: Distribution] {
        var values: [RatioKey: [Double]] = [:]
        for run in self {
            for workload in run.workloads {
                for (ratio, value) in workload.ratios {
                    let key = RatioKey(benchmark: run.benchmark, workload: workload.name, ratio: ratio)
                    values[key, default: []].append(value)
                }
            }
        }
        return values.mapValues { Distribution($0) }
    }
}
