import NotificationModel

/// An invalid rule file: every problem in it, in the order of its lines.
public struct RuleFileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// One mistake with its position.
    public struct Problem: Hashable, Sendable, CustomStringConvertible {
        /// Counted from 1; 0 for a problem without a position.
        public var line: Int
        /// Counted from 1; 0 for a problem without a position.
        public var column: Int
        /// What is wrong and how to fix it.
        public var message: String

        /// Creates a problem.
        public init(line: Int, column: Int, message: String) {
            self.line = line
            self.column = column
            self.message = message
        }

        /// `3:7: message`, on one line and escaped for a terminal.
        public var description: String {
            let text = PrintableText.escaped(message)
            return line > 0 ? "\(line):\(column): \(text)" : text
        }
    }

    /// The file's path as configured.
    public var file: String
    /// At least one problem.
    public var problems: [Problem]
    /// The file is missing or cannot be read: nothing is known about its rules.
    public var isUnreadable: Bool

    /// Creates the error of a file.
    public init(file: String, problems: [Problem], isUnreadable: Bool = false) {
        self.file = file
        self.problems = problems
        self.isUnreadable = isUnreadable
    }

    /// One line per problem, `rules.yaml:3:7: message`, in the format of compilers.
    public var description: String {
        let file = PrintableText.escaped(file)
        return problems.map { $0.line > 0 ? "\(file):\($0)" : "\(file): \($0)" }.joined(separator: "\n")
    }
}
