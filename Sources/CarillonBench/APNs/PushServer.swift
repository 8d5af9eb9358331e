import APNsSimulator
import ArgumentParser
import Foundation
import NotificationChannels
import NotificationDelivery
import NotificationModel
import ServiceSupport

/// What a push server tells the benchmark that started it.
struct PushServerPlaces: Codable, Sendable {
    var production: Int
    var development: Int
    var control: Int
    /// The file of the authority that clients must trust.
    var authority: String
    /// The file of the provider's key.
    var key: String
    /// The header field, with a provider token that is good for an hour.
    var authorization: String
}

/// `carillon-bench apns-server`: the simulator of APNs in its own process, as the other side of `apns`.
struct PushServerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apns-server",
        abstract: "The simulator of APNs, which accepts every token.",
        shouldDisplay: false
    )

    @Option var directory: String
    /// Milliseconds.
    @Option var roundTrip = 0
    @Option var streams = 500

    func run() async throws {
        var configuration = APNsSimulatorConfiguration(directory: directory)
        configuration.acceptsUnknownTokens = true
        configuration.behaviour.maximumStreams = streams
        configuration.behaviour.roundTrip = .milliseconds(roundTrip)
        let simulator = try await APNsSimulator.start(configuration)
        guard let key = simulator.keyFile, let control = simulator.controlPort else {
            throw BenchmarkError("the simulator has no key or no control interface")
        }
        let places = PushServerPlaces(
            production: simulator.productionPort,
            development: simulator.developmentPort,
            control: control,
            authority: simulator.authorityFile,
            key: key,
            authorization: try simulator.authorization()
        )
        try JSONEncoder().encode(places).write(to: PushServer.file(in: directory), options: .atomic)
        // It is ended from outside.
        try await Task.sleep(for: .seconds(86_400))
        await simulator.stop()
    }
}

/// A push server in its own process, and what its clients need.
final class PushServer: PushTarget {
    let name = "APNs"
    let places: PushServerPlaces
    let process: SubjectProcess
    private let workbench: Workbench

    static let bundle = "com.example.shop"

    /// Starts it; blocking until it listens.
    ///
    /// - Parameters:
    ///   - roundTrip: milliseconds before each answer.
    ///   - streams: of a connection at one time.
    init(roundTrip: Int = 0, streams: Int = 500, on workbench: Workbench) throws {
        self.workbench = workbench
        let directory = workbench.place("apns").path
        process = try SubjectProcess(
            Programs.own,
            ["apns-server", "--directory", directory, "--round-trip", "\(roundTrip)", "--streams", "\(streams)"],
            on: workbench
        )
        var places: PushServerPlaces?
        for _ in 0..<400 where places == nil {
            _ = try process.sample()
            if let json = try? Data(contentsOf: Self.file(in: directory)) {
                places = try JSONDecoder().decode(PushServerPlaces.self, from: json)
            } else {
                Thread.sleep(forTimeInterval: 0.05)
            }
        }
        guard let places else { throw BenchmarkError("the simulator of APNs does not start") }
        self.places = places
    }

    static func file(in directory: String) -> URL {
        URL(fileURLWithPath: directory).appendingPathComponent("places.json")
    }

    /// Pushes that it has accepted since its start.
    func accepted() throws -> Int {
        struct Statistics: Decodable {
            var accepted: Int
        }

        guard let url = URL(string: "http://127.0.0.1:\(places.control)/v1/statistics") else {
            throw BenchmarkError("\(places.control) is no port")
        }
        return try JSONDecoder().decode(Statistics.self, from: try Data(contentsOf: url)).accepted
    }

    /// The consumer service's attempts without an answer at their deadline. It sends each of them again under the same ids, and APNs may
    /// have accepted the first: a machine that stops for longer than the deadline shows it.
    ///
    /// - Throws: ``BenchmarkError`` when the service does not count them.
    static func unanswered(_ service: ServiceMetrics) throws -> Int {
        let series = #"carillon_apns_pushes_total{outcome="unanswered"}"#
        guard let count = service[series] else { throw BenchmarkError("the service has no \(series)") }
        return Int(count)
    }

    /// - Parameters:
    ///   - accepted: pushes for these notifications.
    ///   - unanswered: attempts at them without an answer.
    /// - Throws: ``BenchmarkError`` when some are missing, or one that was answered was sent again.
    static func check(accepted: Int, unanswered: Int, of notifications: Int) throws {
        guard (notifications...notifications + unanswered).contains(accepted) else {
            throw BenchmarkError(
                "APNs accepted \(accepted) pushes for \(notifications) notifications, with \(unanswered) unanswered attempts"
            )
        }
    }

    /// The file of applications for the channel.
    func applications() throws -> String {
        let file = workbench.place("applications.yaml")
        try Self.applications(key: places.key).write(to: file, atomically: true, encoding: .utf8)
        return file.path
    }

    static func applications(key: String) -> String {
        """
        shop:
          bundles: \(bundle)
          team: \(APNsSimulator.ownTeam)
          key: \(APNsSimulator.ownKeyID)
          key-file: \(key)

        """
    }

    /// The settings of the consumer service that send to it.
    func settings() throws -> [String: String] {
        [
            "CARILLON_CHANNEL": "apns", "CARILLON_APNS_APPLICATIONS_FILE": try applications(),
            "CARILLON_APNS_INTERNAL": "true",
            "CARILLON_APNS_PRODUCTION_URL": "https://127.0.0.1:\(places.production)",
            "CARILLON_APNS_DEVELOPMENT_URL": "https://127.0.0.1:\(places.development)",
            "CARILLON_EGRESS_CA_FILE": places.authority,
        ]
    }

    // MARK: - The channel and its pushes

    func channel(connections: Int) throws -> any DeliveryChannel & Sendable {
        try Self.channel(
            applications: applications(),
            authority: places.authority,
            ports: (places.production, places.development),
            connections: connections,
            on: workbench
        )
    }

    /// - Parameters:
    ///   - applications: the file of applications.
    ///   - authority: the file of the servers' authority.
    ///   - connections: the most of the channel.
    static func channel(
        applications: String,
        authority: String,
        ports: (production: Int, development: Int),
        connections: Int,
        on workbench: Workbench
    ) throws -> any DeliveryChannel & Sendable {
        var (apns, egress) = (APNsConfiguration(), EgressConfiguration())
        apns.applicationsFile = applications
        apns.isInternal = true
        apns.productionURL = "https://127.0.0.1:\(ports.production)"
        apns.developmentURL = "https://127.0.0.1:\(ports.development)"
        apns.connections = connections
        // On a busy machine an answer may be late, which is not what is measured.
        apns.timeout = PushDesk.patience
        egress.authoritiesFile = authority
        return try APNsChannel(
            apns,
            egress: egress,
            health: Health(),
            registry: PrometheusRegistry(),
            logger: workbench.logger
        )
    }

    /// 64 hexadecimal digits.
    static func token(_ number: Int) -> String { Pattern.digits(number + 1, 64) }

    func send(_ number: Int) throws -> Issued<ChannelSend> { try Self.send(number, token: Self.token(number)) }

    /// - Parameter token: of its device.
    static func send(_ number: Int, token: String) throws -> Issued<ChannelSend> {
        try PushWorkload.send(number, to: DeviceRegistration(platform: "apns", token: token), by: .apns)
    }

    /// A push of the channel, for other clients.
    func request() throws -> H2Load.Request {
        let content = PushWorkload.content(0)[...]
        let push = try APNsPush(
            DeviceDelivery(send(0).work, content: content, to: PushWorkload.device()),
            bundle: Self.bundle
        )
        return H2Load.Request(
            url: "https://127.0.0.1:\(places.production)\(APNsPush.path(to: Self.token(0)))",
            fields: [("authorization", places.authorization)] + push.headers.fields.map { ($0.name, $0.value) },
            body: push.payload
        )
    }

    func stop() { process.stop() }
}
