import Foundation

/// Aligned columns: the first to the left, the others to the right.
enum TextTable {
    static func text(_ rows: [[String]]) -> String {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in rows.map { $0.count > column ? $0[column].count : 0 }.max() ?? 0 }
        return rows.map { row in
            let line = row.enumerated().map { column, cell in
                let space = String(repeating: " ", count: widths[column] - cell.count)
                return column == 0 ? cell + space : space + cell
            }.joined(separator: "  ")
            return String(line.reversed().drop { $0 == " " }.reversed())
        }.joined(separator: "\n")
    }

    /// Three significant digits: ratios may be far below one.
    static func ratio(_ number: Double) -> String { String(format: "%.3g", number) }
}

extension Report {
    /// The tables.
    var text: String { workloads.map { "\(benchmark): \($0.text)" }.joined(separator: "\n\n") }
}

extension Workload {
    fileprivate var text: String {
        let figures = figures.compactMap { figure in figure.title.map { [$0, figure.text] } }
        let ratios = ratios.sorted { $0.key < $1.key }.map { [$0.key.title, TextTable.ratio($0.value)] }
        let tables = [figures, Self.table(parts), Self.table(subjects), ratios].filter { !$0.isEmpty }
        return ([name] + tables.map(TextTable.text)).joined(separator: "\n\n")
    }

    /// A column for every figure of any row.
    private static func table(_ rows: [FigureRow]) -> [[String]] {
        guard !rows.isEmpty else { return [] }
        var titles: [String] = []
        for title in rows.flatMap(\.figures).compactMap(\.title) where !titles.contains(title) { titles.append(title) }
        return [[""] + titles]
            + rows.map { row in
                [row.title] + titles.map { title in row.figures.first { $0.title == title }?.text ?? "-" }
            }
    }
}

extension Figure {
    fileprivate var text: String {
        switch format {
        case .whole: String(format: "%.0f", value)
        case .decimals: String(format: "%.2f", value)
        case .mebibytes: String(format: "%.0f", value / 1_048_576)
        }
    }
}
