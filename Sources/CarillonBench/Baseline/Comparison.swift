import ArgumentParser
import Foundation

/// Compares runs with the baseline.
struct Comparison: Sendable {
    enum Verdict: String, Sendable {
        case within = ""
        case better = "better"
        case worse = "WORSE"
        /// The baseline does not have it.
        case new = "not in the baseline"
    }

    struct Line: Sendable {
        var key: RatioKey
        /// The median of the runs.
        var measured: Double
        var entry: Baseline.Entry?

        /// As a share of the baseline's ratio.
        var change: Double? { entry.map { measured / $0.ratio - 1 } }

        var verdict: Verdict {
            guard let entry, let change else { return .new }
            guard abs(change) > entry.tolerance else { return .within }
            return (change > 0) == key.ratio.isBetterWhenHigher ? .better : .worse
        }
    }

    let lines: [Line]

    /// - Throws: ``BenchmarkError`` when the runs and the baseline have nothing in common.
    init(of runs: [SavedRun], with baseline: Baseline) throws {
        lines = runs.ratios.sorted { $0.key < $1.key }.compactMap { key, values in
            values.median.map { Line(key: key, measured: $0, entry: baseline.entries[key]) }
        }
        guard lines.contains(where: { $0.entry != nil }) else {
            func list(_ keys: some Sequence<RatioKey>) -> String {
                let names = Set(keys.map { "\($0.benchmark): \($0.workload)" }).sorted()
                return names.isEmpty ? "  none" : names.map { "  \($0)" }.joined(separator: "\n")
            }
            throw BenchmarkError(
                """
                nothing to compare. Ratios of these workloads are in the runs:
                \(list(lines.map(\.key)))
                and in the baseline:
                \(list(baseline.entries.keys))
                """
            )
        }
    }

    var isWorse: Bool { lines.contains { $0.verdict == .worse } }

    /// A table for each workload.
    var text: String {
        var parts: [String] = []
        var rest = lines[...]
        while let first = rest.first {
            let same = rest.prefix { ($0.key.benchmark, $0.key.workload) == (first.key.benchmark, first.key.workload) }
            rest = rest.dropFirst(same.count)
            let head = ["", "baseline", "measured", "change", "allowed", ""]
            parts.append(
                "\(first.key.benchmark): \(first.key.workload)\n\n" + TextTable.text([head] + same.map(Self.row))
            )
        }
        return parts.joined(separator: "\n\n")
    }

    private static func row(_ line: Line) -> [String] {
        [
            line.key.ratio.title, line.entry.map { TextTable.ratio($0.ratio) } ?? "-", TextTable.ratio(line.measured),
            line.change.map { String(format: "%+.0f %%", $0 * 100) } ?? "-",
            line.entry.map { entry in
                (line.key.ratio.isBetterWhenHigher ? "-" : "+") + String(format: "%.0f %%", entry.tolerance * 100)
            } ?? "-",
            line.verdict.rawValue,
        ]
    }
}

/// Options of the commands that use the baseline.
struct BaselineOptions: ParsableArguments {
    @Option(
        name: .customLong("baseline"),
        help: ArgumentHelp("The file with the baseline.", valueName: "file"),
        completion: .file(extensions: ["json"])
    )
    var path = Baseline.path

    @Argument(
        help: ArgumentHelp("Files with the output of benchmarks with --json, one run per line; - is standard input."),
        completion: .file()
    )
    var runs: [String]
}

/// `carillon-bench compare`.
struct CompareCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compare",
        abstract: "Compare the ratios of saved runs with those of the baseline.",
        discussion: """
            Ratios only: rates and times depend more on the machine than on the program. Of several runs of a workload \
            the median counts. The status is 1 when a ratio is worse than its tolerance in the baseline allows; that \
            is at least 15 %, and as much as the runs of the baseline differed. Workloads of other sizes are not \
            compared, nor are programs that were built in another way.

            Example:
              carillon-bench ingest --json | carillon-bench compare -
            """
    )

    @OptionGroup var options: BaselineOptions

    func run() throws {
        let baseline = try Baseline(path: options.path)
        let comparison = try Comparison(of: SavedRun.read(options.runs), with: baseline)
        print(comparison.text)
        if comparison.isWorse { throw ExitCode.failure }
    }
}

/// `carillon-bench baseline`.
struct BaselineCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "baseline",
        abstract: "Make saved runs the baseline.",
        discussion: """
            Each ratio of the runs replaces that of the baseline with the median of the runs, and with a tolerance of \
            at least 15 %, or as much as the runs differ from the median: give it several runs. Ratios that the runs \
            do not have stay.

            Example:
              for run in 1 2 3; do for name in pipeline ingest timers; do
                deploy/bench $name --json >> runs.jsonl
              done; done
              deploy/bench baseline runs.jsonl
            """
    )

    @OptionGroup var options: BaselineOptions

    func run() throws {
        let runs = try SavedRun.read(options.runs)
        let count = runs.ratios.count
        guard count > 0 else {
            throw BenchmarkError("these runs have no ratios: pipeline, ingest and timers measure some")
        }
        // Do not overwrite a file that is not a baseline.
        var baseline =
            FileManager.default.fileExists(atPath: options.path) ? try Baseline(path: options.path) : Baseline()
        baseline.update(from: runs)
        try baseline.write(to: options.path)
        print("\(options.path): \(count) ratios of \(runs.count) runs, \(baseline.entries.count) in total")
    }
}
