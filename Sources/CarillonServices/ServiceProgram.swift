import NotificationChannels
import NotificationConsumer
import NotificationEnrichment
import NotificationProducer
import ServiceSupport
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

    /// Runs until the service ends or a signal stops it.
    ///
    /// - Returns: The exit status, as ``ServiceMain`` describes it.
    package func run() async -> Int32 {
        switch self {
        case .producer: await ServiceMain.producer.run(configure: Self.configureProducer)
        case .consumer: await ServiceMain.consumer.run(configure: Self.configureConsumer)
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
        let configuration = ConsumerServiceConfiguration(settings: &settings)
        return { here in
            let channels = try configuration.makeChannels(
                health: here.health,
                registry: here.registry,
                logger: here.logger
            )
            let enrichment = try ConfiguredEnrichment.ifEnabled(
                configuration,
                registry: here.registry,
                logger: here.logger
            )
            let consumer = try ConsumerService(
                configuration: configuration,
                channels: channels,
                enrichment: enrichment?.worker,
                routes: enrichment?.routes ?? [],
                health: here.health,
                registry: here.registry,
                tracer: here.tracer,
                logger: here.logger
            )
            let reloads = [here.reload, consumer.reload, enrichment?.reload]
            return [HangupService(logger: here.logger, channels: channels, actions: reloads), consumer]
        }
    }
}
