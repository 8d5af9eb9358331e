import Foundation
import NotificationModel
import Yams

/// Reads a file of rules whole and checks it before anything runs: either every rule is usable, or the error names every
/// mistake with its line.
enum RuleFile {
    /// A rule file larger than this is a mistake.
    static let maximumBytes = 4 << 20

    static func load(path: String) throws(RuleFileError) -> RuleSet {
        let text: String
        do {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
            guard bytes.count <= maximumBytes else {
                throw RuleFileError(path, "is \(bytes.count) bytes; a rule file may have \(maximumBytes)")
            }
            guard let decoded = String(validating: bytes, as: UTF8.self) else {
                throw RuleFileError(path, "is not UTF-8")
            }
            text = decoded
        } catch let error as RuleFileError {
            throw error
        } catch {
            throw RuleFileError(path, "cannot be read: \(error.localizedDescription)")
        }
        return try parse(text, file: path)
    }

    static func parse(_ text: String, file: String) throws(RuleFileError) -> RuleSet {
        let root: Node?
        do {
            root = try Parser(yaml: text).singleRoot()
        } catch {
            throw RuleFileError(file: file, problems: [problem(of: error)])
        }
        guard let root else {
            throw RuleFileError(file, "is empty; it needs a list `rules:`")
        }
        var compiler = RuleCompiler()
        let rules = compiler.compile(root)
        guard compiler.problems.isEmpty else {
            let inOrder = compiler.problems.sorted { ($0.line, $0.column) < ($1.line, $1.column) }
            throw RuleFileError(file: file, problems: inOrder)
        }
        return RuleSet(rules)
    }

    private static func problem(of error: any Error) -> RuleFileError.Problem {
        switch error as? YamlError {
        case .scanner(let context, let problem, let mark, _), .parser(let context, let problem, let mark, _),
            .composer(let context, let problem, let mark, _):
            let before = context.map { "\($0.text): " } ?? ""
            return .init(line: mark.line, column: mark.column, message: "not YAML: \(before)\(problem)")
        case .reader(let problem, let offset, _, let yaml):
            let line = yaml.prefix(offset ?? 0).count { $0.isNewline } + 1
            return .init(line: line, column: 1, message: "not YAML: \(problem)")
        case .duplicatedKeysInMapping(let duplicates, let context):
            let names = duplicates.map { "`\($0)`" }.joined(separator: ", ")
            return .init(
                line: context.mark.line,
                column: context.mark.column,
                message: "\(names) is given twice in one mapping"
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
}
