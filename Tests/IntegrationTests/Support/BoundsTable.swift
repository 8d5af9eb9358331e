import Foundation

/// The table of bounds in the README.
struct BoundsTable {
    struct Row {
        var key: String
        /// As one would write it; nil when it depends on the machine.
        var defaultValue: String?
        /// nil where the log tells.
        var metric: String?
    }

    let rows: [Row]

    init() throws {
        let text = try String(contentsOf: Tools.package.appendingPathComponent("README.md"), encoding: .utf8)
        let section = text.components(separatedBy: "## Bounds").last?.components(separatedBy: "\n## ").first ?? ""
        rows = section.split(separator: "\n").compactMap { line in
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count == 4, let key = Self.code(cells[0]) else { return nil }
            return Row(key: key, defaultValue: Self.code(cells[1]), metric: Self.code(cells[3]))
        }
    }

    private static func code(_ cell: String) -> String? {
        cell.hasPrefix("`") && cell.hasSuffix("`") ? String(cell.dropFirst().dropLast()) : nil
    }
}
