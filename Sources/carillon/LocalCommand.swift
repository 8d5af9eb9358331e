import APNsSimulator
import ArgumentParser
import CarillonServices
import Foundation
import LocalBroker
import Logging
import NotificationChannels
import NotificationConsumer
import NotificationEnrichment
import NotificationModel
import NotificationProducer
import ServiceHTTP
import ServiceLifecycle
import ServiceSupport
import ServiceTracing

/// `carillon local`: broker, producer service and consumer service in one process.
struct LocalCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "local",
        abstract: "Run the embedded broker and both services in one process, to try Carillon out.",
        discussion: """
            Everything is in memory and lost when it ends. Settings of the services can be given as for the services \
            themselves: in a file or as CARILLON_ variables. The options here override them.

            It also runs simulators of APNs and FCM, and serves a page with phones on them: open the address that it prints. \
            Notifications reach these phones by the channel `devices`. A platform whose file of applications is set is \
            not simulated, and with a file of settings none is.

            With --apns there is the iPhone of a recipient `ana`, too, it says what that shows, and the channel `devices` is \
            the default unless another one is set.

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

    @Option(help: ArgumentHelp("Address of the page with phones; port 0 takes a free one.", valueName: "host:port"))
    var phone = HostPort(host: "127.0.0.1", port: 0)

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

    @Flag(help: "Add an iPhone of the recipient ana, and say what it shows.")
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
        guard ListenerSecurity.isLoopback(phone.host) else {
            throw ValidationError("--phone must be an address of this machine, such as 127.0.0.1:8084")
        }
    }

    func run() async throws {
        try await CommandFailure.told(by: "carillon local") { throw ExitCode(try await serve()) }
    }

    /// - Returns: The exit status.
    private func serve() async throws -> Int32 {
        let main = ServiceMain(
            name: "carillon local",
            summary: "",
            defaultOpsPort: ops.port,
            foreignVariables: CommandVariable.names
        )
        guard !helpSettings else {
            return main.showSettings { settings in
                _ = ProducerServiceConfiguration(settings: &settings)
                _ = ConsumerSettings(settings: &settings)
                return { _ in [] }
            }
        }
        let file = try bootstrapFile.map(BootstrapFile.init(path:))
        let platforms = LocalPushServices.wanted(
            ProcessInfo.processInfo.environment,
            hasFile: config != nil,
            isAsked: apns
        )
        let push = platforms.isEmpty ? nil : try await LocalPushServices.start(platforms)
        let iPhone = try push.flatMap { apns ? try LocalPhone(of: $0.apns) : nil }
        // Also when the services have not begun.
        defer { push?.clear() }
        return await main.run(environment: try environment(push), file: config) { settings in
            let producer = ProducerServiceConfiguration(settings: &settings)
            let consumer = ConsumerSettings(settings: &settings)
            return { here in
                try services(producer, consumer, file, push, iPhone, here)
            }
        }
    }

    private func services(
        _ producer: ProducerServiceConfiguration,
        _ consumer: ConsumerSettings,
        _ file: BootstrapFile?,
        _ push: LocalPushServices?,
        _ iPhone: LocalPhone?,
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
            tracer: here.tracer,
            logger: here.logger
        )
        let (application, devicesTopic) = (producer.defaultApplication, topics.devices)
        try push?.writeApplications(application)
        let configured = try ConfiguredConsumer(consumer, in: here)
        let consumerService = configured.service
        let page = PhoneServer(
            listen: phone,
            connection: Connection(
                bootstrapServers: broker.bootstrapServers,
                properties: [:],
                topics: topics,
                defaultApplication: application,
                timeout: .seconds(10)
            ),
            simulators: push?.phones(owner: iPhone == nil ? nil : LocalPhone.recipient) ?? [],
            services: phoneServices(producer, producerService, consumer, consumerService, here.logger),
            browserKey: push.flatMap { $0.platforms.contains(.webpush) ? $0.browserKey : nil },
            logger: here.logger
        )
        let hosts = (http: http.host, ops: ops.host, queries: consumer.service.queries.host)
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
            if let iPhone, let push {
                try await iPhone.register(application, on: broker, topic: devicesTopic, logger: here.logger)
                text += "\n  apns    http://127.0.0.1:\(push.apns.controlPort ?? 0)"
                text += ", with the \(LocalPhone.device) of \(LocalPhone.recipient)"
            }
            return text + "\n  phone   \(try await page.url)"
        }
        // They stop in reverse order: first the one that accepts work, last those that the others need.
        let needed: [any Service] = [BrokerService(broker: broker, topics: topics, logger: here.logger)]
        return needed + (push.map { [$0] } ?? []) + (iPhone.map { [$0] } ?? []) + [
            consumerService,
            // Accept calls only when the consumer service is ready.
            StartingLater(producerService) { consumerService.isReady }, page,
            HangupService(
                logger: here.logger,
                channels: configured.channels,
                actions: [here.reload, { await producerService.reload() }] + configured.reloads
            ), ready,
        ]
    }

    /// Where the page's apps find the services.
    private func phoneServices(
        _ producer: ProducerServiceConfiguration,
        _ producerService: ProducerService,
        _ consumer: ConsumerSettings,
        _ consumerService: ConsumerService,
        _ logger: Logger
    ) -> PhoneServices {
        let token = ProcessInfo.processInfo.environment[CommandVariable.httpToken.rawValue]
        let (host, queriesHost) = (http.host, consumer.service.queries.host)
        var signer: RecipientTokenSigner?
        if let file = producer.http.recipientKeysFile {
            do throws(ListenerSettingsError) {
                signer = try RecipientTokenSigner(keysFile: file, application: producer.defaultApplication)
            } catch {
                logger.warning("the page's phones have no tokens", metadata: [LogMetadata.error: "\(error)"])
            }
        }
        return PhoneServices(
            producer: {
                ServiceClient(on: HostPort(host: host, port: try await producerService.httpPort), token: token)
            },
            queries: {
                try await consumerService.queryPort.map {
                    ServiceClient(on: HostPort(host: queriesHost, port: $0), token: token)
                }
            },
            application: producer.defaultApplication,
            signer: signer,
            now: SystemClock.now
        )
    }

    /// The process environment, overridden by the options.
    private func environment(_ push: LocalPushServices?) throws -> [String: String] {
        var variables = ProcessInfo.processInfo.environment
        if apns, config == nil, variables["CARILLON_CHANNEL"] == nil { variables["CARILLON_CHANNEL"] = "devices" }
        try push?.set(&variables)
        if config == nil, variables["CARILLON_QUERIES_ENABLED"] == nil {
            // For the apps of the page.
            variables["CARILLON_QUERIES_ENABLED"] = "true"
            variables["CARILLON_QUERIES_PORT"] = variables["CARILLON_QUERIES_PORT"] ?? "0"
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
