import Foundation

/// The result of a benchmark, in one form for all benchmarks.
///
/// In JSON every workload is an element of `workloads`. The members of all workloads are also members of the report,
/// where the last workload wins.
struct Report: Sendable {
    var benchmark: String
    var workloads: [Workload]

    /// One line.
    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
}

/// A workload and its results.
struct Workload: Sendable {
    /// The workload with its numbers. Only ratios of workloads with the same name are comparable.
    var name: String
    /// Figures of the whole workload, and the numbers in its name.
    var figures: [Figure] = []
    /// Parts with several figures: each is an object.
    var parts: [FigureRow] = []
    /// Programs that did the same work: an array of objects.
    var subjects: [FigureRow] = []
    var ratios: [Ratio: Double] = [:]
}

/// Several figures of one thing.
struct FigureRow: Sendable {
    /// The name in JSON.
    var name: String
    /// The title in tables.
    var title: String
    var figures: [Figure]

    init(_ name: String, title: String? = nil, _ figures: [Figure]) {
        (self.name, self.title, self.figures) = (name, title ?? name, figures)
    }
}

/// One number.
struct Figure: Sendable {
    enum Format: Sendable {
        case whole, decimals, mebibytes
    }

    /// The name in JSON.
    var name: String
    /// The title in tables; nil if the workload's name contains the figure.
    var title: String?
    var value: Double
    var format: Format

    init(_ name: String, _ title: String, _ value: Double, as format: Format = .decimals) {
        (self.name, self.title, self.value, self.format) = (name, title, value, format)
    }

    /// A number from the workload's name.
    init(_ name: String, given value: some BinaryInteger) {
        (self.name, title, self.value, format) = (name, nil, Double(value), .whole)
    }
}

extension Distribution {
    /// Minimum, median, 99th percentile, maximum, and number of values.
    func figures(as format: Figure.Format) -> [Figure] {
        guard let minimum, let median, let p99 = quantile(0.99), let maximum else { return [] }
        return [
            Figure("events", "events", Double(count), as: .whole), Figure("min", "min", minimum, as: format),
            Figure("p50", "p50", median, as: format), Figure("p99", "p99", p99, as: format),
            Figure("max", "max", maximum, as: format),
        ]
    }
}

// MARK: - JSON

private struct Member: CodingKey, ExpressibleByStringLiteral {
    var stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init(stringLiteral value: String) { stringValue = value }
    init?(intValue: Int) { nil }
}

extension Report: Encodable {
    func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Member.self)
        for workload in workloads { try workload.encode(into: &members) }
        try members.encode(benchmark, forKey: "benchmark")
        try members.encode(workloads, forKey: "workloads")
    }
}

extension Workload: Encodable {
    func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Member.self)
        try encode(into: &members)
    }

    fileprivate func encode(into members: inout KeyedEncodingContainer<Member>) throws {
        for figure in figures { try members.encode(figure.value, forKey: Member(stringValue: figure.name)) }
        for part in parts {
            var object = members.nestedContainer(keyedBy: Member.self, forKey: Member(stringValue: part.name))
            try part.encode(into: &object)
        }
        try members.encode(name, forKey: "workload")
        try members.encode(subjects, forKey: "subjects")
        try members.encode(ratios, forKey: "ratios")
    }
}

extension FigureRow: Encodable {
    func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Member.self)
        try members.encode(name, forKey: "name")
        try encode(into: &members)
    }

    fileprivate func encode(into members: inout KeyedEncodingContainer<Member>) throws {
        for figure in figures { try members.encode(figure.value, forKey: Member(stringValue: figure.name)) }
    }
}

/// Measured values in order.
struct Distribution: Sendable {
    private let sorted: [Double]

    init(_ values: some Sequence<Double>) { sorted = values.sorted() }

    var count: Int { sorted.count }

    /// The smallest value that at least this share of all values does not exceed; nil without values.
    func quantile(_ share: Double) -> Double? {
        guard !sorted.isEmpty else { return nil }
        let rank = Int((share * Double(count)).rounded(.up))
        return sorted[min(max(rank, 1), count) - 1]
    }

    /// For an even number of values the lower one of the two in the middle.
    var median: Double? { quantile(0.5) }
    var minimum: Double? { sorted.first }
    var maximum: Double? { sorted.last }
}
