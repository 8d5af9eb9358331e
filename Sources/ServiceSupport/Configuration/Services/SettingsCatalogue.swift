/// The keys that the services declare.
package enum SettingsCatalogue {
    /// Those of both: each service passes over what only the other reads, and an unknown key is one that neither knows.
    static let all = keys(of: ProducerServiceConfiguration.self) + keys(of: ConsumerServiceConfiguration.self)

    /// Those that one service declares, without those of its process (`ops.port`).
    package static func keys<Configuration: ServiceConfiguration>(of service: Configuration.Type) -> [String] {
        var settings = ServiceSettings()
        _ = Configuration(settings: &settings)
        return settings.declaredKeys.map(\.key)
    }
}
