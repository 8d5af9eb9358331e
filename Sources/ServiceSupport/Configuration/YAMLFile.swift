import Foundation
import NotificationModel
package import Yams

/// A YAML file that a setting names, read strictly. Messages name the place in the file, and quote names but no values.
package struct YAMLFile {
    /// Why the file is not usable.
    package struct Problem: Error, Hashable {
        /// Begins with the path, and the line where there is one.
        package let message: String
    }

    package let path: String
    /// Nil for an empty file.
    package let root: Node?

    /// Reads a file. Blocks.
    ///
    /// - Parameter maximumBytes: A larger file is a mistake.
    package static func load(path: String, maximumBytes: Int) throws(Problem) -> YAMLFile {
        guard let file = FileHandle(forReadingAtPath: path), let data = try? file.read(upToCount: maximumBytes + 1)
        else {
            throw Problem(message: "\(path) does not exist, or cannot be read")
        }
        guard data.count <= maximumBytes else {
            throw Problem(message: "\(path) has more than \(maximumBytes) bytes")
        }
        guard let text = String(validating: data, as: UTF8.self) else {
            throw Problem(message: "\(path) is not UTF-8")
        }
        return try YAMLFile(text: text, of: path)
    }

    /// - Parameters:
    ///   - text: The contents.
    ///   - path: For messages.
    package init(text: String, of path: String) throws(Problem) {
        let excess: Mark?
        do {
            excess = try YAMLBounds.excess(in: text)
            root = excess == nil ? try Parser(yaml: text).singleRoot() : nil
        } catch {
            throw Problem(message: "\(path) is not YAML: \(PrintableText.escaped("\(error)"))")
        }
        if let excess { throw Problem(message: "\(path):\(excess.line): \(YAMLBounds.message)") }
        self.path = path
    }

    /// A problem with a place in the file.
    package func problem(_ node: Node?, _ message: String) -> Problem {
        Problem(message: "\(path)\(node?.mark.map { ":\($0.line)" } ?? ""): \(message)")
    }

    /// The problem of a name that is not known, with the one that was probably meant.
    package func unknown(_ name: String, _ node: Node, among known: [String]) -> Problem {
        let hint = Spelling.nearest(to: name, among: known).map { "; did you mean `\($0)`?" } ?? ""
        return problem(node, "unknown key `\(PrintableText.escaped(name))`\(hint)")
    }

    /// The names and values of a mapping. No name is there twice: the parser refuses that.
    package func members(_ node: Node?, _ what: String) throws(Problem) -> [(String, Node)] {
        guard case .mapping(let mapping)? = node else {
            throw problem(node, "\(PrintableText.escaped(what)) must be a mapping of names to values")
        }
        var members: [(String, Node)] = []
        for (key, value) in mapping {
            guard case .scalar(let scalar) = key else { throw problem(key, "a name must be a text") }
            members.append((scalar.string, value))
        }
        return members
    }

    /// A single value.
    package func text(_ node: Node, _ what: String) throws(Problem) -> String {
        guard case .scalar(let scalar) = node else {
            throw problem(node, "`\(PrintableText.escaped(what))` must be a text")
        }
        return scalar.string
    }

    /// A list of single values; one value alone is a list of it.
    package func texts(_ node: Node, _ what: String) throws(Problem) -> [String] {
        guard case .sequence(let sequence) = node else { return [try text(node, what)] }
        var texts: [String] = []
        for element in sequence { texts.append(try text(element, what)) }
        return texts
    }
}
