import Foundation
import Testing

/// The pages that lead newcomers through the code name files and functions that exist.
@Suite("The pages about the code")
struct FileMapTests {
    private static let pages = "Sources/NotificationConsumer/NotificationConsumer.docc/"
    private static let consumer = "Sources/NotificationConsumer/"

    /// The cells of the tables of a page, without headings and rulers.
    private func rows(of name: String) throws -> [[String]] {
        let page = try #require(try Page.all().first { $0.path == Self.pages + name })
        return page.text.split(separator: "\n").filter { $0.hasPrefix("|") }.map { line in
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
        let listed = try rows(of: "FileMap.md").flatMap { codes(in: $0[0]) }
        #expect(Set(listed).count == listed.count)
        let root = Tools.package.appendingPathComponent(Self.consumer).path
        let files = try #require(FileManager.default.subpaths(atPath: root)).filter { $0.hasSuffix(".swift") }
        #expect(Set(files).subtracting(listed) == [], "they are not in the file map")
        #expect(Set(listed).subtracting(files) == [], "they are in the file map only")
    }

    @Test("the files in the life of a record contain the functions named with them")
    func lifeOfARecord() throws {
        let rows = try rows(of: "LifeOfARecord.md")
        #expect(rows.count > 40)
        for row in rows where row.count == 3 {
            var text = ""
            for path in codes(in: row[1]) {
                let file = file(path)
                #expect(FileManager.default.fileExists(atPath: file.path), "\(path)")
                text += (try? String(contentsOf: file, encoding: .utf8)) ?? ""
            }
            for function in codes(in: row[2]) {
                let isThere = function == "init" ? text.contains("init(") : text.contains("func \(function)")
                #expect(isThere, "\(row[1]) has no \(function)")
            }
        }
    }
}
