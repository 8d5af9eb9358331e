public import Logging
import NotificationModel
public import ServiceLifecycle
package import ServiceTracing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The process environment of a service.
public struct ServiceEnvironment: Sendable {
    /// Where components report readiness.
    public var health: Health
    /// The metrics of `/metrics`; also the process-wide system of swift-metrics.
    public var registry: PrometheusRegistry
    /// The ops endpoint, for callers that need its port.
    public var ops: OpsServer
    /// The service's logger.
    public var logger: Logger
    /// Gets the spans of the services; nil where nothing is traced.
    package var tracer: Tracer?
    /// Reads the files of the process itself again, as SIGHUP does: the header fields for the collector. Nil where there are none.
    package var reload: (@Sendable () async -> Void)?
}

/// The main program of a service: settings, logging, metrics, the ops endpoint, and services that stop on SIGTERM and
/// SIGINT.
///
/// `--help-settings` lists the settings, including those of ``OpsConfiguration`` and ``LoggingConfiguration``.
///
/// It ignores the foreign keys and variables that it is given, so that one file, or one set of variables, serves both services.
public struct ServiceMain: Sendable {
    /// The exit status for invalid settings, EX_CONFIG of sysexits.h: a supervisor should not retry.
    public static let configurationStatus: Int32 = 78
    /// The exit status for an invalid command line, EX_USAGE.
    public static let usageStatus: Int32 = 64
    /// The exit status of a service that failed while running.
    public static let failureStatus: Int32 = 1
    /// The exit status of a check of a service that does not answer, EX_UNAVAILABLE.
    public static let unansweredStatus: Int32 = 69

    /// The executable's name.
    package let name: String
    private let summary: String
    private let defaultOpsPort: Int
    private let foreignKeys: [String]
    private let foreignVariables: [String]

    /// Describes a service.
    ///
    /// - Parameters:
    ///   - name: The executable's name.
    ///   - summary: One sentence for `--help`.
    ///   - defaultOpsPort: The default port of the ops endpoint.
    ///   - foreignKeys: Of the services that read the same file and variables; they may include keys of this service.
    ///   - foreignVariables: Variables that are no keys, which another program reads.
    public init(
        name: String,
        summary: String,
        defaultOpsPort: Int,
        foreignKeys: [String] = [],
        foreignVariables: [String] = []
    ) {
        (self.name, self.summary, self.defaultOpsPort) = (name, summary, defaultOpsPort)
        (self.foreignKeys, self.foreignVariables) = (foreignKeys, foreignVariables)
    }

    /// Creates the services from valid settings. Nothing runs yet, so an error here (for example an invalid rule file)
    /// also counts as an invalid configuration.
    public typealias Launch = @Sendable (ServiceEnvironment) throws -> [any Service]

    /// Runs until the services end or a signal stops them.
    ///
    /// - Parameters:
    ///   - arguments: The command line with the program's name.
    ///   - environment: The environment variables; nil for those of the process.
    ///   - configure: Reads every setting of the service, and returns the closure that creates the services.
    /// - Returns: The exit status: 0 after a shutdown, 78 for invalid settings, 64 for an invalid command line, 1 for a
    ///   failure; of `--check-health` 0, 1 or 69.
    public func run(
        arguments: [String] = CommandLine.arguments,
        environment: [String: String]? = nil,
        configure: (inout ServiceSettings) throws -> Launch
    ) async -> Int32 {
        switch ServiceCommandLine.parse(arguments.dropFirst()) {
        case .run(let file):
            let environment = environment ?? ProcessInfo.processInfo.environment
            return await run(environment: environment, file: file, configure: configure)
        case .checkHealth(let question, let file):
            return await checkHealth(question, file: file)
        case .help:
            print(ServiceCommandLine.help(name: name, summary: summary))
            return 0
        case .helpSettings:
            return showSettings(configure: configure)
        case .version:
            print("\(name) \(CarillonVersion.current)")
            return 0
        case .wrong(let why):
            tell("\(name): \(why)\nSee '\(name) --help'.\n")
            return Self.usageStatus
        }
    }

    /// Asks the service that runs with these settings, and prints its answer. Other settings than those of the ops port are not
    /// looked at: the service itself refuses wrong ones.
    private func checkHealth(_ question: HealthCheck.Question, file: String?) async -> Int32 {
        do {
            var settings = try ServiceSettings(environment: ProcessInfo.processInfo.environment, file: file)
            let check = HealthCheck(configuration: OpsConfiguration(settings: &settings, defaultPort: defaultOpsPort))
            switch await check.ask(question) {
            case .answered(let isHealthy, let body):
                print(PrintableText.escaped(body, keepsLines: true), terminator: "")
                return isHealthy ? 0 : Self.failureStatus
            case .unanswered(let why):
                tell("\(name): \(why)\n")
                return Self.unansweredStatus
            }
        } catch {
            return wrongConfiguration(error)
        }
    }

    /// Prints every setting with its variable, range, default and effect.
    ///
    /// - Parameter configure: As above; its result is not used.
    /// - Returns: The exit status.
    public func showSettings(configure: (inout ServiceSettings) throws -> Launch) -> Int32 {
        do {
            var settings = ServiceSettings()
            _ = readOwn(&settings)
            _ = try configure(&settings)
            print(SettingsHelp.text(settings.declaredKeys), terminator: "")
            return 0
        } catch {
            return wrongConfiguration(error)
        }
    }

    /// The same for a program with a command line of its own.
    ///
    /// - Parameters:
    ///   - environment: The environment variables.
    ///   - file: The path of the settings file, if there is one.
    ///   - configure: As above.
    /// - Returns: As above.
    public func run(
        environment: [String: String],
        file: String?,
        configure: (inout ServiceSettings) throws -> Launch
    ) async -> Int32 {
        do {
            let (own, launch, _) = try read(environment: environment, file: file, configure: configure)
            bootstrapLogging(own.logging)
            let registry = PrometheusRegistry(maximumSeries: own.maximumSeries)
            bootstrapMetrics(registry)
            let logger = Logger(label: name)
            let health = Health(stallTimeout: own.stallTimeout)
            registry.collect { page in
                for (component, isReady) in health.readiness {
                    page.gauge(
                        "ready",
                        help: "Whether a component is ready, 1 or 0; `/health/ready` has the reason.",
                        value: isReady ? 1 : 0,
                        labels: [("component", component)]
                    )
                }
            }
            let server = OpsServer(configuration: own.ops, health: health, registry: registry, logger: logger)
            var here = ServiceEnvironment(health: health, registry: registry, ops: server, logger: logger)
            logger.info("starting", metadata: ["version": "\(CarillonVersion.current)"])
            // Starts first and stops last, so that a drain can be observed.
            var services: [any Service] = [server]
            do {
                services += try trace(own.tracing, &here)
                services += try launch(here)
            } catch {
                return wrongConfiguration(error)
            }
            try await ServiceRunner.run(services, shutdownTimeout: own.timeout, logger: logger)
            logger.info("stopped")
            return 0
        } catch let error as ServiceSettingsError {
            return wrongConfiguration(error)
        } catch {
            tell("\(name): \(error)\n")
            return Self.failureStatus
        }
    }

    /// Gives the services a tracer and what reloads its files if there is a collector, and returns what sends it their spans.
    private func trace(_ tracing: TracingConfiguration, _ here: inout ServiceEnvironment) throws -> [TraceExporter] {
        guard let collector = tracing.collector else { return [] }
        let tracer = Tracer(ratio: tracing.ratio, clock: SystemClock.nanoseconds)
        here.tracer = tracer
        let resource = [
            ("service.name", name.replacing(" ", with: "-")), ("service.version", CarillonVersion.current),
            ("service.instance.id", UUID().uuidString.lowercased()), ("host.name", SharedConfiguration.hostName),
        ]
        let exporter = try TraceExporter(
            tracer,
            to: collector,
            resource: resource,
            registry: here.registry,
            logger: here.logger
        )
        here.reload = exporter.reload
        return [exporter]
    }

    /// Reads and checks all settings, as each start does.
    ///
    /// - Parameters:
    ///   - environment: The environment variables.
    ///   - file: The path of the settings file, if there is one.
    ///   - configure: Reads the settings of the service.
    /// - Returns: What `configure` returned, the settings as read, and what tries the collector of spans, if there is one.
    /// - Throws: ``ServiceSettingsError``.
    package func settings<Configuration>(
        environment: [String: String],
        file: String?,
        configure: (inout ServiceSettings) throws -> Configuration
    ) throws -> (configuration: Configuration, settings: ServiceSettings, collector: CollectorProbe?) {
        let (own, configuration, settings) = try read(environment: environment, file: file, configure: configure)
        return (configuration, settings, own.tracing.collector.map(CollectorProbe.init))
    }

    private func read<Configuration>(
        environment: [String: String],
        file: String?,
        configure: (inout ServiceSettings) throws -> Configuration
    ) throws -> (own: Own, configuration: Configuration, settings: ServiceSettings) {
        var settings = try ServiceSettings(environment: environment, file: file)
        let own = readOwn(&settings)
        let configuration = try configure(&settings)
        settings.passOver(foreignKeys)
        settings.passOver(variables: foreignVariables)
        try settings.finish()
        return (own, configuration, settings)
    }

    /// Writes to standard error, escaped: the text may quote external input.
    private func tell(_ text: String) {
        writeToStandardError(PrintableText.escaped(text, keepsLines: true))
    }

    private typealias Own = (
        logging: LoggingConfiguration, ops: OpsConfiguration, maximumSeries: Int, timeout: Duration,
        stallTimeout: Duration, tracing: TracingConfiguration
    )

    /// The settings of every service.
    private func readOwn(_ settings: inout ServiceSettings) -> Own {
        let logging = LoggingConfiguration(settings: &settings)
        let ops = OpsConfiguration(settings: &settings, defaultPort: defaultOpsPort)
        let maximumSeries = settings.int(
            "metrics.series",
            default: PrometheusRegistry.defaultMaximumSeries,
            in: 100...1_000_000,
            about: "Maximum number of series in /metrics; further ones are dropped, and counted."
        )
        let timeout = settings.duration(
            "process.shutdown.timeout",
            default: .seconds(25),
            in: .seconds(1) ... .seconds(3_600),
            about: "How long a graceful shutdown may take before the remaining services are cancelled."
        )
        let stallTimeout = settings.duration(
            "process.stall.timeout",
            default: Health.defaultStallTimeout,
            in: .seconds(5) ... .seconds(3_600),
            about: """
                /health/live answers 503 when a thread has made no progress for this time; in production not below the \
                longest wait for the broker, a minute.
                """
        )
        return (logging, ops, maximumSeries, timeout, stallTimeout, TracingConfiguration(settings: &settings))
    }

    private func wrongConfiguration(_ error: any Error) -> Int32 {
        tell(invalid(error))
        return Self.configurationStatus
    }

    /// What a start says of settings with which it does not begin; not escaped.
    package func invalid(_ error: any Error) -> String { "\(name): invalid configuration\n\(error)\n" }
}
