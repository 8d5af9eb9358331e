import Foundation
import Testing

/// The links between the pages, as they work on a Git host.
@Suite("The pages of the documentation")
struct LinkTests {
    private struct Link {
        /// From the root of the package; empty for the page itself.
        var path: String
        var anchor: String?
    }

    /// The text of a page without its code.
    private func prose(of page: Page) -> String {
        var (lines, isCode): ([Substring], Bool) = ([], false)
        for line in page.text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("```") {
                isCode.toggle()
            } else if !isCode {
                lines.append(line)
            }
        }
        return lines.joined(separator: "\n")
    }

    private func links(of page: Page) -> [Link] {
        let folder = URL(fileURLWithPath: "/" + page.path).deletingLastPathComponent()
        return prose(of: page).matches(of: /\]\(([^)\s]+)\)/).compactMap { match in
            let target = match.1
            guard !target.contains("://"), !target.hasPrefix("mailto:") else { return nil }
            let parts = target.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let path =
                parts[0].isEmpty
                ? page.path : String(folder.appendingPathComponent(parts[0]).standardizedFileURL.path.dropFirst())
            return Link(path: path, anchor: parts.count > 1 ? parts[1] : nil)
        }
    }

    /// The anchors that a Git host gives a page's headings.
    private func anchors(of page: Page) -> Set<String> {
        Set(
            prose(of: page).split(separator: "\n").filter { $0.hasPrefix("#") }.map { heading in
                heading.drop { $0 == "#" }.trimmingCharacters(in: .whitespaces).lowercased()
                    .filter { $0.isLetter || $0.isNumber || "-_ ".contains($0) }
                    .replacingOccurrences(of: " ", with: "-")
            }
        )
    }

    @Test("every relative link leads to a file, and every anchor to a heading")
    func targets() throws {
        let pages = try Page.all()
        #expect(pages.count > 10)
        var count = 0
        for page in pages {
            for link in links(of: page) {
                count += 1
                let file = Tools.package.appendingPathComponent(link.path).path
                #expect(FileManager.default.fileExists(atPath: file), "\(page.path) links to \(link.path)")
                guard let anchor = link.anchor else { continue }
                let target = try #require(pages.first { $0.path == link.path }, "\(page.path) links to \(link.path)")
                #expect(anchors(of: target).contains(anchor), "\(page.path) links to \(link.path)#\(anchor)")
            }
        }
        #expect(count > 30)
    }

    @Test("every page is reached from the README")
    func reach() throws {
        let pages = Dictionary(uniqueKeysWithValues: try Page.all().map { ($0.path, $0) })
        var (reached, next): (Set<String>, [String]) = (["README.md"], ["README.md"])
        while let path = next.popLast() {
            guard let page = pages[path] else { continue }
            for link in links(of: page) where reached.insert(link.path).inserted { next.append(link.path) }
        }
        // A catalogue's own page lists its articles for DocC; it has the catalogue's name.
        let articles = pages.keys.filter { path in
            let parts = path.split(separator: "/").suffix(2)
            return !(parts.count == 2 && parts.first == parts.last.map { $0.dropLast(2) + "docc" })
        }
        #expect(Set(articles).subtracting(reached) == [])
    }

    @Test("the README is short")
    func length() throws {
        let readme = try #require(try Page.all().first { $0.path == "README.md" })
        #expect(readme.text.split(whereSeparator: \.isWhitespace).count < 1500)
    }
}
