import NotificationModel

/// All problems of the settings, for a person to read.
public struct ServiceSettingsError: Error, Sendable, Hashable {
    /// The source of a setting.
    public enum Source: Sendable, Hashable {
        /// A line of the settings file; nil if the parser reports none.
        case file(String, line: Int?)
        /// The named environment variable.
        case variable(String)
        /// The environment, if the key is itself the name of the variable.
        case environment
        /// Neither in the environment nor in a file.
        case nowhere
    }

    /// One problem.
    public struct Problem: Sendable, Hashable {
        /// The key with dots, the name of an unknown variable, or empty for the file as a whole.
        public var key: String
        /// The source.
        public var source: Source
        /// What is wrong and what is allowed. Never contains a secret.
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
    /// One problem per line.
    public var description: String {
        problems.map(\.description).joined(separator: "\n")
    }
}

extension ServiceSettingsError.Problem: CustomStringConvertible {
    /// `carillon.yaml:3: http.port is "eighty"; allowed: an integer from 0 to 65535`, on one line and escaped for a
    /// terminal.
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
