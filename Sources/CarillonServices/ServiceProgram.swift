import NotificationChannels
import NotificationProducer
package import ServiceSupport
import ServiceTracing

/// The main programs of the services. Their executables run one each; `carillon` runs the one under whose name it is called, so that
/// a package needs one file for all of them.
package enum ServiceProgram: String, CaseIterable, Sendable {
    case producer = "carillon-producer"
    case consumer = "carillon-consumer"

    /// - Parameter path: as the process was called; nil for a path that ends otherwise.
    package init?(calledAs path: String) {
        self.init(rawValue: path.split(separator: "/").last.map(String.init) ?? "")
    }

    /// Its main program, with the keys of both services: they do not link each other, and one file, or one set of variables,
    /// serves both.
    package var main: ServiceMain {
        let (summary, port) =
            switch self {
            case .producer: ("Turns business events and API calls into notification requests on Kafka.", 8081)
            case .consumer:
                (
                    "Runs the notification center of every recipient: triggers, delivers, publishes outcomes to Kafka.",
                    8082
                )
            }
        return ServiceMain(
            name: rawValue,
            summary: summary,
            defaultOpsPort: port,
            foreignKeys: Self.keys,
            foreignVariables: CommandVariable.names
        )
    }

    /// Of both services.
    static let keys = ServiceSettings.keys {
        _ = ProducerServiceConfiguration(settings: &$0)
        _ = ConsumerSettings(settings: &$0)
    }

    /// Runs until the service ends or a signal stops it.
    ///
    /// - Returns: The exit status, as ``ServiceMain`` describes it.
    package func run() async -> Int32 {
        switch self {
        case .producer: await main.run(configure: Self.configureProducer)
        case .consumer: await main.run(configure: Self.configureConsumer)
        }
    }

    private static func configureProducer(_ settings: inout ServiceSettings) -> ServiceMain.Launch {
        let configuration = ProducerServiceConfiguration(settings: &settings)
        return { here in
            let producer = try ProducerService(
                configuration: configuration,
                health: here.health,
                registry: here.registry,
                tracer: here.tracer,
                logger: here.logger
            )
            let hangups = HangupService(logger: here.logger, actions: [here.reload, { await producer.reload() }])
            return [hangups, producer]
        }
    }

    private static func configureConsumer(_ settings: inout ServiceSettings) -> ServiceMain.Launch {
        let configuration = ConsumerSettings(settings: &settings)
        return { here in
            let consumer = try ConfiguredConsumer(configuration, in: here)
            let reloads = [here.reload] + consumer.reloads
            return [
                HangupService(logger: here.logger, channels: consumer.channels, actions: reloads), consumer.service,
            ]
        }
    }
}
