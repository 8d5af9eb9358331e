import APNsSimulator
import ArgumentParser
import Foundation
import LocalBroker
import NotificationChannels
import NotificationConsumer
import NotificationEnrichment
import NotificationModel
import NotificationProducer
import ServiceLifecycle
import ServiceSupport

/// `carillon local`: broker, producer service and consumer service in one process.
struct LocalCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "local",
        abstract: "Run the embedded broker and both services in one process, to try Carillon out.",
        discussion: """
            Everything is in memory and lost when it ends. Settings of the services can be given as for the services \
            themselves: in a file or as CARILLON_ variables. The options here override them.

            With --apns it also runs the simulator of APNs, and the iPhone of a recipient `ana`: it says what the phone \
            shows. Requests name the channel `devices`, which is the default unless another one is set.

            Examples:

              carillon local --apns
              carillon local --rules rules.yaml --bootstrap-file bootstrap &
              carillon tail deliveries --bootstrap-file bootstrap
            """
    )

    @Option(help: ArgumentHelp("Address of the HTTP API; port 0 takes a free one.", valueName: "host:port"))
    var http = HostPort(host: "127.0.0.1", port: 8080)

    @Option(help: ArgumentHelp("Address of /metrics and /health; port 0 takes a free one.", valueName: "host:port"))
    var ops = HostPort(host: "127.0.0.1", port: 8081)

    @Option(
        help: ArgumentHelp("Write the bootstrap servers to this file once everything is ready.", valueName: "file"),
        completion: .file()
    )
    var bootstrapFile: String?

    @Option(
        help: ArgumentHelp("The YAML file of rules for business events; SIGHUP reloads it.", valueName: "file"),
        completion: .file(extensions: ["yaml", "yml"])
    )
    var rules: String?

    @Flag(help: "Run the simulator of APNs, too, with an iPhone of the recipient ana, and say what it shows.")
    var apns = false

    @Option(help: ArgumentHelp("Partitions of each topic.", valueName: "n"))
    var partitions = 8

    @Option(
        help: ArgumentHelp("A YAML file with settings of the services.", valueName: "file"),
        completion: .file(extensions: ["yaml", "yml"])
    )
    var config: String?

    @Flag(help: "Show every setting of the services with its default, range and effect.")
    var helpSettings = false

    func validate() throws {
        guard !Validation.isLater else { return }
        guard (1...1_000).contains(partitions) else {
            throw ValidationError("--partitions must be from 1 to 1000")
        }
    }

    func run() async throws {
        try await CommandFailure.told(by: "carillon local") { throw ExitCode(try await serve()) }
    }

    /// - Returns: The exit status.
    private func serve() async throws -> Int32 {
        let main = ServiceMain(name: "carillon local", summary: "", defaultOpsPort: ops.port)
        guard !helpSettings else {
            return main.showSettings { settings in
                _ = ProducerServiceConfiguration(settings: &settings)
                _ = ConsumerServiceConfiguration(settings: &settings)
                return { _ in [] }
            }
        }
        let file = try bootstrapFile.map(BootstrapFile.init(path:))
        let phone = apns ? try await LocalPhone.start() : nil
        return await main.run(environment: environment(phone), file: config) { settings in
            let producer = ProducerServiceConfiguration(settings: &settings)
            let consumer = ConsumerServiceConfiguration(settings: &settings)
            return { here in
                try services(producer, consumer, file, phone, here)
            }
        }
    }

    private func services(
        _ producer: ProducerServiceConfiguration,
        _ consumer: ConsumerServiceConfiguration,
        _ file: BootstrapFile?,
        _ phone: LocalPhone?,
        _ here: ServiceEnvironment
    ) throws -> [any Service] {
        var producer = producer
        var consumer = consumer
        var topics = consumer.topics
        (topics.businessEvents, topics.responses) = (producer.topics.businessEvents, producer.topics.responses)
        let broker = try LocalBroker.withCarillonTopics(topics, partitions: partitions)
        let servers = broker.bootstrapServers.joined(separator: ",")
        producer.bootstrapServers = broker.bootstrapServers
        consumer.bootstrapServers = broker.bootstrapServers
        // Explicit settings override the recommended ones for this broker.
        producer.kafkaProperties.merge(LocalBroker.recommendedConsumerProperties) { own, _ in own }
        consumer.kafkaProperties.merge(LocalBroker.recommendedConsumerProperties) { own, _ in own }
        let producerService = try ProducerService(
            configuration: producer,
            health: here.health,
            registry: here.registry,
            logger: here.logger
        )
        let (application, devicesTopic) = (producer.defaultApplication, topics.devices)
        try phone?.writeApplications(application)
        let channels = try consumer.makeChannels(health: here.health, registry: here.registry, logger: here.logger)
        let enrichment = try ConfiguredEnrichment.ifEnabled(consumer, registry: here.registry, logger: here.logger)
        let consumerService = try ConsumerService(
            configuration: consumer,
            channels: channels,
            enrichment: enrichment?.worker,
            routes: enrichment?.routes ?? [],
            health: here.health,
            registry: here.registry,
            logger: here.logger
        )
        let hosts = (http: http.host, ops: ops.host, queries: consumer.queries.host)
        let ready = ReadyAnnouncer(health: here.health, file: file, bootstrapServers: servers) {
            var text = """
                Carillon is ready.
                  broker  \(servers)
                  http    http://\(HostPort(host: hosts.http, port: try await producerService.httpPort))
                  ops     http://\(HostPort(host: hosts.ops, port: try await here.ops.port))
                """
            if let port = try await consumerService.queryPort {
                text += "\n  queries http://\(HostPort(host: hosts.queries, port: port))"
            }
            if let phone {
                try await phone.register(application, on: broker, topic: devicesTopic, logger: here.logger)
                text += "\n  apns    http://127.0.0.1:\(phone.simulator.controlPort ?? 0)"
                text += ", with the \(LocalPhone.device) of \(LocalPhone.recipient)"
            }
            return text
        }
        // They stop in reverse order: first the one that accepts work, last those that the others need.
        let needed: [any Service] = [BrokerService(broker: broker, topics: topics, logger: here.logger)]
        return needed + (phone.map { [$0] } ?? []) + [
            consumerService,
            // Accept calls only when the consumer service is ready.
            StartingLater(producerService) { consumerService.isReady },
            HangupService(
                logger: here.logger,
                channels: channels,
                actions: [{ await producerService.reload() }, consumerService.reload, enrichment?.reload]
            ), ready,
        ]
    }

    /// The process environment, overridden by the options.
    private func environment(_ phone: LocalPhone?) -> [String: String] {
        var variables = ProcessInfo.processInfo.environment
        if let phone {
            if config == nil, variables["CARILLON_CHANNEL"] == nil { variables["CARILLON_CHANNEL"] = "devices" }
            phone.set(&variables)
        }
        // The services require a broker; its port is known only once it runs.
        variables["CARILLON_KAFKA_BOOTSTRAP_SERVERS"] = "localhost:9092"
        variables["CARILLON_HTTP_HOST"] = http.host
        variables["CARILLON_HTTP_PORT"] = "\(http.port)"
        variables["CARILLON_OPS_HOST"] = ops.host
        variables["CARILLON_OPS_PORT"] = "\(ops.port)"
        if let rules {
            variables["CARILLON_RULES_FILE"] = rules
        }
        return variables
    }
}
