import ArgumentParser

/// When to use colours.
enum ColorChoice: String, ExpressibleByArgument, CaseIterable, Sendable {
    case auto, always, never

    /// - Parameters:
    ///   - environment: The process environment. A nonempty `NO_COLOR` (no-color.org) or `TERM=dumb` disables colours,
    ///     unless they were requested explicitly.
    ///   - isTerminal: Whether the output is a terminal.
    func isOn(environment: [String: String], isTerminal: Bool) -> Bool {
        switch self {
        case .always: true
        case .never: false
        case .auto: isTerminal && (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
        }
    }
}
