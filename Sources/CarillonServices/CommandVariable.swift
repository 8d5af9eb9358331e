/// Variables that only the command line reads: a service that finds them in its environment ignores them.
package enum CommandVariable: String, CaseIterable, Sendable {
    /// The producer service's API.
    case httpURL = "CARILLON_HTTP_URL"
    /// The token for calls.
    case httpToken = "CARILLON_HTTP_TOKEN"
    /// The consumer service's API.
    case queriesURL = "CARILLON_QUERIES_URL"

    package static var names: [String] { allCases.map(\.rawValue) }
}
