import ArgumentParser
import CarillonServices
import NotificationProducer
import ServiceSupport

/// A service, as commands about its settings name it.
enum ServiceChoice: String, CaseIterable, ExpressibleByArgument, Sendable {
    case producer, consumer

    var main: ServiceMain {
        switch self {
        case .producer: ServiceProgram.producer.main
        case .consumer: ServiceProgram.consumer.main
        }
    }

    /// The services that a command is about.
    ///
    /// - Parameter named: Nil for both.
    static func all(_ named: ServiceChoice?) -> [ServiceChoice] { named.map { [$0] } ?? allCases }

    /// Reads and checks all settings, as the service does at its start.
    ///
    /// - Throws: `ServiceSettingsError`.
    func settings(environment: [String: String], file: String?) throws -> ServiceSettings {
        switch self {
        case .producer:
            try main.settings(environment: environment, file: file) { settings in
                ProducerServiceConfiguration(settings: &settings)
            }
            .settings
        case .consumer:
            try main.settings(environment: environment, file: file) { settings in
                ConsumerSettings(settings: &settings)
            }
            .settings
        }
    }
}
