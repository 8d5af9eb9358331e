import CarillonServices
import Foundation
import Logging
import NotificationConsumer
import NotificationDelivery
import NotificationEnrichment
import NotificationModel
import NotificationProducer
import ServiceSupport

/// A service whose settings and files are right.
struct CheckedService: Sendable {
    let shared: SharedConfiguration
    /// The own names of the topics that it uses.
    let topics: Set<String>
    /// `store.deletions.kept`.
    var deletionsKept = StoreConfiguration().deletionsKept
    /// Directories that it writes to, by the settings that name them.
    var directories: [(setting: String, path: String)] = []
    var channels: [any DeliveryChannel & Sendable] = []
    /// Tries the collector of spans; nil where nothing is traced.
    var collector: CollectorProbe?
}

/// The first phase: settings, and the files that they name, through the code that a start runs. It blocks, connects to
/// nothing and changes nothing.
struct ServiceFilesCheck {
    let service: ServiceChoice
    let environment: [String: String]
    let file: String?
    let tell: (CheckStep) -> Void

    private var collector: CollectorProbe?
    private let warnings = CollectedWarnings()
    private let health = Health()
    private let registry = PrometheusRegistry()

    init(
        _ service: ServiceChoice,
        environment: [String: String],
        file: String?,
        tell: @escaping (CheckStep) -> Void
    ) {
        (self.service, self.environment, self.file, self.tell) = (service, environment, file, tell)
    }

    /// - Returns: Nil when something is wrong.
    mutating func run() -> CheckedService? {
        var checked =
            switch service {
            case .producer: producer()
            case .consumer: consumer()
            }
        checked?.collector = collector
        return checked
    }

    // MARK: - The producer service

    private mutating func producer() -> CheckedService? {
        guard let configuration = settings(ProducerServiceConfiguration.init(settings:)) else { return nil }
        var isRight = true
        if let path = configuration.rulesFile {
            isRight = step("rules") { try rules(path, configuration) } != nil
        } else {
            tell(
                CheckStep(
                    phase: .settings,
                    what: "rules",
                    result: .warning("rules.file is not set: business events stay on their topic")
                )
            )
        }
        isRight = api("HTTP API", configuration.http, configuration.defaultApplication) && isRight
        guard isRight else { return nil }
        let made = step("the producer service") {
            _ = try ProducerService(
                configuration: configuration,
                health: health,
                registry: registry,
                logger: warnings.logger
            )
            return "properties of Kafka, time zones"
        }
        guard made != nil else { return nil }
        return CheckedService(
            shared: configuration.shared,
            topics: ["business-events", "requests", "signals", "devices", "categories", "responses", "dead-letters"]
        )
    }

    private func rules(_ path: String, _ configuration: ProducerServiceConfiguration) throws -> String {
        let rules = try RulePreview(
            file: path,
            defaultApplication: configuration.defaultApplication,
            unmatched: configuration.unmatchedEvents
        )
        for warning in rules.warnings { warnings.logger.warning("\(path):\(warning)") }
        return "\(rules.rules.count) of \(path)"
    }

    // MARK: - The consumer service

    private mutating func consumer() -> CheckedService? {
        guard let settings = settings(ConsumerSettings.init(settings:)) else { return nil }
        let configuration = settings.service
        var (isRight, channels): (Bool, [any DeliveryChannel & Sendable]) = (true, [])
        for name in configuration.channels.sorted(by: { $0.rawValue < $1.rawValue }) {
            let made = step("the channel \(name.rawValue)") {
                if let channel = try settings.makeChannel(
                    name,
                    health: health,
                    registry: registry,
                    logger: warnings.logger
                ) {
                    channels.append(channel)
                }
                return name == .events || name == .devices ? "needs no settings" : "settings, applications and keys"
            }
            isRight = made != nil && isRight
        }
        isRight = enrichment(settings) && isRight
        if configuration.answersQueries || settings.enrichment.isEnabled {
            isRight = api("query API", configuration.queries, configuration.defaultApplication) && isRight
        }
        guard isRight else { return nil }
        let made = step("the consumer service") {
            var withoutStore = configuration
            // It would create the directory.
            withoutStore.store.directory = nil
            _ = try ConsumerService(
                configuration: withoutStore,
                channels: channels,
                health: health,
                registry: registry,
                logger: warnings.logger
            )
            return "properties of Kafka, time zones"
        }
        guard made != nil else { return nil }
        var directories: [(String, String)] = []
        if let store = configuration.store.directory { directories.append(("store.directory", store)) }
        if settings.enrichment.isEnabled {
            directories.append(("media.directory", settings.enrichment.media.directory))
        }
        return CheckedService(
            shared: configuration.shared,
            topics: [
                "requests", "signals", "devices", "tokens", "categories", "deliveries", "responses", "state",
                "dead-letters",
            ],
            deletionsKept: configuration.store.deletionsKept,
            directories: directories,
            channels: channels
        )
    }

    private func enrichment(_ settings: ConsumerSettings) -> Bool {
        guard settings.enrichment.isEnabled else { return true }
        // In the real directory it would remove what is not needed.
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "carillon-check-\(UUID().uuidString)"
        )
        defer { try? FileManager.default.removeItem(at: folder) }
        var elsewhere = settings
        elsewhere.enrichment.media.directory = folder.path
        return step("enrichment") {
            _ = try elsewhere.makeEnrichment(registry: registry, logger: warnings.logger)
            let file = settings.enrichment.chainsFile
            return file.isEmpty ? "attachments" : "the chains of \(file), with templates and keys"
        } != nil
    }

    // MARK: - Of both

    private mutating func settings<Configuration>(
        _ read: (inout ServiceSettings) -> Configuration
    ) -> Configuration? {
        let found = step("settings") {
            let found = try service.main.settings(environment: environment, file: file, configure: read)
            let given = found.settings.inForce.count { $0.source != .default }
            return (found, "\(found.settings.declaredKeys.count), \(given) of them given")
        }
        collector = found?.collector
        return found?.configuration
    }

    private func api(_ name: String, _ configuration: HTTPConfiguration, _ application: String) -> Bool {
        step(name) {
            _ = try HTTPInterface(
                name: name,
                configuration: configuration,
                defaultApplication: application,
                health: health.component(name),
                logger: warnings.logger
            )
            return "address, tokens, keys and certificate"
        } != nil
    }

    private func step(_ what: String, _ body: () throws -> String) -> String? {
        step(what) { () throws -> (String, String) in
            let detail = try body()
            return (detail, detail)
        }
    }

    private func step<Made>(_ what: String, _ body: () throws -> (Made, detail: String)) -> Made? {
        do {
            let (made, detail) = try body()
            tell(CheckStep(phase: .settings, what: what, result: .passed(detail)))
            for line in warnings.take() { tell(CheckStep(phase: .settings, what: what, result: .warning(line))) }
            return made
        } catch {
            _ = warnings.take()
            let result = CheckStep.Result.failed("\(error)", status: ExitStatus.settings)
            tell(CheckStep(phase: .settings, what: what, result: result))
            return nil
        }
    }
}
