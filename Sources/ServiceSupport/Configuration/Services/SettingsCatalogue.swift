/// The keys that the services declare.
package enum SettingsCatalogue {
    /// The keys of both services: each ignores the other's keys, and only a key that neither knows is unknown.
    static let all = keys(of: ProducerServiceConfiguration.self) + keys(of: ConsumerServiceConfiguration.self)

    /// The keys of one service, without those of its process (`ops.port`).
    package static func keys<Configuration: ServiceConfiguration>(of service: Configuration.Type) -> [String] {
        var settings = ServiceSettings()
        _ = Configuration(settings: &settings)
        return settings.declaredKeys.map(\.key)
    }

    /// Variables that only the command line reads: a service that finds them in its environment ignores them.
    package enum CommandVariable: String, CaseIterable, Sendable {
        /// The producer service's API.
        case httpURL = "CARILLON_HTTP_URL"
        /// The token for calls.
        case httpToken = "CARILLON_HTTP_TOKEN"
        /// The consumer service's API.
        case queriesURL = "CARILLON_QUERIES_URL"
    }
}
