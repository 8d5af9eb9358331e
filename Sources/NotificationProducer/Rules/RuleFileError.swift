import NotificationModel

/// Why a rule file was refused: every problem found in it, in the order of its lines.
public struct RuleFileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// One mistake and where it is.
    public struct Problem: Hashable, Sendable, CustomStringConvertible {
        /// Counted from 1; 0 when the problem has no place in the file.
        public var line: Int
        /// Counted from 1; 0 when the problem has no place in the file.
        public var column: Int
        /// What is wrong and what to do about it.
        public var message: String

        /// Creates a problem.
        public init(line: Int, column: Int, message: String) {
            self.line = line
            self.column = column
            self.message = message
        }

        /// `3:7: what is wrong`, on one line and fit for a terminal.
        public var description: String {
            let text = PrintableText.escaped(message)
            return line > 0 ? "\(line):\(column): \(text)" : text
        }
    }

    /// The file as it was named in the configuration.
    public var file: String
    /// At least one.
    public var problems: [Problem]
    /// There is no such file, or it cannot be read: nothing is known of the rules in it.
    public var isUnreadable: Bool

    /// Creates the error of a file.
    public init(file: String, problems: [Problem], isUnreadable: Bool = false) {
        self.file = file
        self.problems = problems
        self.isUnreadable = isUnreadable
    }

    /// One line a problem, `rules.yaml:3:7: what is wrong`, as compilers write them.
    public var description: String {
        let file = PrintableText.escaped(file)
        return problems.map { $0.line > 0 ? "\(file):\($0)" : "\(file): \($0)" }.joined(separator: "\n")
    }
}
