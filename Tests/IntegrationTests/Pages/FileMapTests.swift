import Foundation
import Testing

/// The pages that lead newcomers through the code name files and functions that exist.
@Suite("The pages about the code")
struct FileMapTests {
    private static let pages = "Sources/NotificationConsumer/NotificationConsumer.docc/"
    private static let consumer = "Sources/NotificationConsumer/"

    private func text(of page: String) throws -> Substring {
        try #require(try Page.all().first { $0.path == Self.pages + page }).text[...]
    }

    /// The cells of the tables in a text, without headings and rulers.
    private func rows(in text: Substring) -> [[String]] {
        text.split(separator: "\n").filter { $0.hasPrefix("|") }.map { line in
            line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        }
        .filter { $0.contains { $0.contains("`") } }
    }

    private func codes(in cell: String) -> [String] { cell.matches(of: /`([^`]+)`/).map { String($0.1) } }

    /// The file of a page: its path begins with a module, or it is in the consumer service.
    private func file(_ path: String) -> URL {
        let sources = Tools.package.appendingPathComponent("Sources")
        let ofModule = sources.appendingPathComponent(path)
        let isModule = FileManager.default.fileExists(atPath: ofModule.path)
        return isModule ? ofModule : Tools.package.appendingPathComponent(Self.consumer + path)
    }

    @Test("the file map lists each file of the consumer service once")
    func fileMap() throws {
        let listed = try rows(in: text(of: "FileMap.md")).flatMap { codes(in: $0[0]) }
        #expect(Set(listed).count == listed.count)
        let root = Tools.package.appendingPathComponent(Self.consumer).path
        let files = try #require(FileManager.default.subpaths(atPath: root)).filter { $0.hasSuffix(".swift") }
        #expect(Set(files).subtracting(listed) == [], "they are not in the file map")
        #expect(Set(listed).subtracting(files) == [], "they are in the file map only")
    }

    /// The functions of a row that no file of it declares.
    private func undeclared(_ functions: [String], in code: String) -> [String] {
        functions.filter { $0 == "init" ? !code.contains("init(") : !code.contains("func \($0)") }
    }

    /// The functions that a text does not call, by name or by passing them on.
    private func uncalled(_ functions: [String], in code: String) throws -> [String] {
        try functions.filter { function in
            // Constructors have the names of their types. A library calls the responder, and a reply is called as a function.
            guard !["init", "respond", "callAsFunction"].contains(function) else { return false }
            let declared = try Regex("func \(function)\\b").wordBoundaryKind(.simple)
            let called = try Regex("\\b\(function)\\s*[({,)]").wordBoundaryKind(.simple)
            return !code.replacing(declared, with: "").contains(called)
        }
    }

    @Test("each function in the life of a record is in its file, and is called in its row or an earlier one of its way")
    func lifeOfARecord() throws {
        var count = 0
        for way in try text(of: "LifeOfARecord.md").split(separator: "\n## ").dropFirst() {
            var code = ""
            for row in rows(in: way) where row.count == 3 {
                let files = codes(in: row[1])
                let own = try files.map { try String(contentsOf: file($0), encoding: .utf8) }.joined(separator: "\n")
                let (functions, isFirst) = (codes(in: row[2]), code.isEmpty)
                #expect(undeclared(functions, in: own) == [], "\(files)")
                code += own
                if !isFirst { #expect(try uncalled(functions, in: code) == [], "\(way.prefix(40)): \(row[0])") }
                count += 1
            }
        }
        #expect(count > 40)
    }
}
