import NotificationModel

/// Everything that is wrong with the settings, for a person to read.
public struct ServiceSettingsError: Error, Sendable, Hashable {
    /// Where a setting was written.
    public enum Source: Sendable, Hashable {
        /// A line of the settings file; nil when the parser gives none.
        case file(String, line: Int?)
        /// The named environment variable.
        case variable(String)
        /// The environment, where the key is itself the name of the variable.
        case environment
        /// Neither in the environment nor in a file.
        case nowhere
    }

    /// One thing that is wrong.
    public struct Problem: Sendable, Hashable {
        /// The key with dots, the name of an unknown variable, or nothing when the file as a whole is meant.
        public var key: String
        /// Where it was found.
        public var source: Source
        /// What is wrong and what is allowed. Never holds a secret.
        public var message: String
    }

    /// At least one problem, in the order in which they were found.
    public var problems: [Problem]

    init(problems: [Problem]) {
        self.problems = problems
    }

    init(_ problem: Problem) {
        self.problems = [problem]
    }
}

extension ServiceSettingsError: CustomStringConvertible {
    /// One problem a line.
    public var description: String {
        problems.map(\.description).joined(separator: "\n")
    }
}

extension ServiceSettingsError.Problem: CustomStringConvertible {
    /// `carillon.yaml:3: http.port is "eighty"; allowed: an integer from 0 to 65535`, on one line and fit for a terminal.
    public var description: String { PrintableText.escaped(plainDescription) }

    private var plainDescription: String {
        let text = key.isEmpty ? message : "\(key) \(message)"
        return switch source {
        case .file(let name, line: let line?): "\(name):\(line): \(text)"
        case .file(let name, line: nil): "\(name): \(text)"
        case .variable(let name): "environment variable \(name): \(text)"
        case .environment: "environment variable \(text)"
        case .nowhere: text
        }
    }
}
