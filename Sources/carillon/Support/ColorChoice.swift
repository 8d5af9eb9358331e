import ArgumentParser

/// When output has colours.
enum ColorChoice: String, ExpressibleByArgument, CaseIterable, Sendable {
    case auto, always, never

    /// - Parameters:
    ///   - environment: Of the process. `NO_COLOR` that is not empty means none (no-color.org), as does `TERM=dumb`; both only
    ///     where nobody asked for colours by name.
    ///   - isTerminal: Whether a person looks at it.
    func isOn(environment: [String: String], isTerminal: Bool) -> Bool {
        switch self {
        case .always: true
        case .never: false
        case .auto: isTerminal && (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
        }
    }
}
