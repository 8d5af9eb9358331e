import Foundation
import NotificationModel
import ServiceSupport
import Yams

/// Reads and validates a complete rule file before anything runs: either all rules are valid, or the error lists every
/// mistake with its line.
enum RuleFile {
    /// A larger file is a mistake.
    static let maximumBytes = 1 << 20
    /// The memory limit for the rules of one file: defaults and localizations multiply their text.
    static let maximumWeight = 64 << 20
    /// Maximum number of reported problems per file.
    static let maximumProblems = 100

    static func load(path: String) throws(RuleFileError) -> RuleSet {
        try parse(try text(path: path), file: path)
    }

    // MARK: Reading

    private static func text(path: String) throws(RuleFileError) -> String {
        let bytes: Data
        do {
            // Reading a pipe or a device may never end, and opening it may block.
            let attributes = try FileManager.default.attributesOfItem(atPath: resolved(path))
            guard let type = attributes[.type] as? FileAttributeType, type == .typeRegular else {
                let isFolder = attributes[.type] as? FileAttributeType == .typeDirectory
                throw RuleFileError(
                    unreadable: path,
                    isFolder ? "is a folder, not a file of rules" : "is not a regular file"
                )
            }
            let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            defer { try? file.close() }
            bytes = try file.read(upToCount: maximumBytes + 1) ?? Data()
        } catch let error as RuleFileError {
            throw error
        } catch {
            // Foundation's error text is not suitable for people.
            let exists = FileManager.default.fileExists(atPath: path)
            throw RuleFileError(unreadable: path, exists ? "cannot be read: check its permissions" : "does not exist")
        }
        guard bytes.count <= maximumBytes else {
            throw RuleFileError(path, "has more than \(maximumBytes) bytes, the limit of a rule file")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw RuleFileError(path, "is not UTF-8")
        }
        return text
    }

    private static func resolved(_ path: String) -> String {
        URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    }

    // MARK: Parsing

    static func parse(_ text: String, file: String) throws(RuleFileError) -> RuleSet {
        // The byte order mark that some editors write.
        let text = text.hasPrefix("\u{FEFF}") ? String(text.dropFirst()) : text
        let root: Node?
        do {
            if let mark = try YAMLBounds.excess(in: text) {
                let problem = RuleFileError.Problem(line: mark.line, column: mark.column, message: YAMLBounds.message)
                throw RuleFileError(file: file, problems: [problem])
            }
            root = try Parser(yaml: text).singleRoot()
        } catch let error as RuleFileError {
            throw error
        } catch {
            throw RuleFileError(file: file, problems: [problem(of: error)])
        }
        guard let root else {
            throw RuleFileError(file, "is empty; it needs a list `rules:`")
        }
        var compiler = RuleCompiler(source: SourceText(text))
        let rules = compiler.compile(root)
        let problems = compiler.problems.sorted { ($0.line, $0.column) < ($1.line, $1.column) }
        guard problems.isEmpty else {
            var listed = Array(problems.prefix(maximumProblems))
            if problems.count > listed.count {
                listed.append(.init(line: 0, column: 0, message: "and \(problems.count - listed.count) more"))
            }
            throw RuleFileError(file: file, problems: listed)
        }
        return RuleSet(rules, ignored: compiler.ignored, warnings: compiler.warnings)
    }

    private static func problem(of error: any Error) -> RuleFileError.Problem {
        switch error as? YamlError {
        case .scanner(let context, let problem, let mark, _), .parser(let context, let problem, let mark, _),
            .composer(let context, let problem, let mark, _):
            let before = context.map { "\($0.text): " } ?? ""
            return .init(line: mark.line, column: mark.column, message: "not YAML: \(before)\(problem)")
        case .reader(let problem, let offset, _, let yaml):
            let line = yaml.utf8.prefix(offset ?? 0).count { $0 == UInt8(ascii: "\n") } + 1
            return .init(line: line, column: 1, message: "not YAML: \(problem)")
        case .duplicatedKeysInMapping(let duplicates, let context):
            let names = duplicates.map { "`\($0)`" }.joined(separator: ", ")
            return .init(
                line: context.mark.line,
                column: context.mark.column,
                message: "\(names) appears twice in one mapping"
            )
        default:
            return .init(line: 0, column: 0, message: "not YAML: \(error)")
        }
    }
}

extension RuleFileError {
    fileprivate init(_ file: String, _ message: String) {
        self.init(file: file, problems: [Problem(line: 0, column: 0, message: message)])
    }

    fileprivate init(unreadable file: String, _ message: String) {
        self.init(file, message)
        isUnreadable = true
    }
}
