import Foundation
import Testing

/// A page of the documentation, whose examples and tables the tests check.
struct Page {
    /// From the root of the package.
    let path: String
    let text: String

    static func contracts() throws -> Page { try Page("Sources/NotificationModel/NotificationModel.docc/Contracts.md") }
    static func bounds() throws -> Page { try manual("Bounds") }
    static func settings() throws -> Page { try manual("Settings") }
    static func rules() throws -> Page { try manual("Rules") }

    private static func manual(_ name: String) throws -> Page { try Page("Sources/carillon/carillon.docc/\(name).md") }

    init(_ path: String) throws {
        self.path = path
        text = try String(contentsOf: Tools.package.appendingPathComponent(path), encoding: .utf8)
    }

    /// The README, and every page in a catalogue or in the folder of the contributor's guide.
    static func all() throws -> [Page] {
        var found = ["README.md"]
        for folder in ["Sources", ".github"] {
            let root = Tools.package.appendingPathComponent(folder).path
            for case let file as String in try #require(FileManager.default.enumerator(atPath: root)) {
                if file.hasSuffix(".md") { found.append("\(folder)/\(file)") }
            }
        }
        return try found.sorted().map { try Page($0) }
    }

    /// The one fenced block of a language that contains some text, without its fences.
    func block(_ language: String, containing part: String) throws -> String {
        let blocks = text.components(separatedBy: "\n```\(language)\n").dropFirst().compactMap {
            $0.components(separatedBy: "\n```").first
        }
        let found = blocks.filter { $0.contains(part) }
        try #require(found.count == 1, "\(found.count) blocks of \(language) in \(path) contain \(part)")
        return found[0] + "\n"
    }

    /// The rows of the one table under a heading, as cells, without its head.
    func table(under heading: String) throws -> [[String]] {
        let sections = text.components(separatedBy: "\n## \(heading)\n")
        try #require(sections.count == 2, "\(path) has no heading \(heading)")
        let section = sections[1].components(separatedBy: "\n## ")[0]
        let rows = section.split(separator: "\n").filter { $0.hasPrefix("|") }.map { line in
            line.dropFirst().dropLast().split(separator: "|", omittingEmptySubsequences: false)
                .map { $0.trimmingCharacters(in: .whitespaces) }
        }
        try #require(rows.count > 2, "\(path) has no table under \(heading)")
        return Array(rows.dropFirst(2))
    }

    /// The text of a cell that contains only code.
    static func code(_ cell: String) -> String? {
        let parts = cell.components(separatedBy: "`")
        return parts.count == 3 && parts[0].isEmpty && parts[2].isEmpty ? parts[1] : nil
    }
}
