public import Logging
import NotificationModel
public import ServiceLifecycle

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a service gets from its process.
public struct ServiceEnvironment: Sendable {
    /// Where components say whether they are ready.
    public var health: Health
    /// What `/metrics` shows; also the process-wide system of swift-metrics.
    public var registry: PrometheusRegistry
    /// The ops endpoint, for whoever must know its port.
    public var ops: OpsServer
    /// The service's logger.
    public var logger: Logger
}

/// The main program of a service: settings, logging, metrics, the ops endpoint, and services that end on SIGTERM and SIGINT.
///
/// `--help-settings` lists the settings, those of ``OpsConfiguration`` and ``LoggingConfiguration`` among them.
///
/// Keys of the other service are passed over, so that one file serves both (``ServiceConfiguration``).
public struct ServiceMain: Sendable {
    /// The status for settings that are wrong, EX_CONFIG of sysexits.h: a supervisor should not try again.
    public static let configurationStatus: Int32 = 78
    /// The status for a wrong command line, EX_USAGE.
    public static let usageStatus: Int32 = 64
    /// The status of a service that failed while it ran.
    public static let failureStatus: Int32 = 1

    private let name: String
    private let summary: String
    private let defaultOpsPort: Int

    /// Names a service.
    ///
    /// - Parameters:
    ///   - name: The executable's name.
    ///   - summary: One sentence for `--help`.
    ///   - defaultOpsPort: The port of the ops endpoint when none is given.
    public init(name: String, summary: String, defaultOpsPort: Int) {
        self.name = name
        self.summary = summary
        self.defaultOpsPort = defaultOpsPort
    }

    /// Makes the services once the settings are known to be right. Nothing runs yet, so what it throws (a rule file that does not
    /// parse) counts as a wrong configuration too.
    public typealias Launch = @Sendable (ServiceEnvironment) throws -> [any Service]

    /// Runs until the services end or a signal ends them.
    ///
    /// - Parameters:
    ///   - arguments: The command line with the program's name.
    ///   - environment: The environment variables; nil for those of the process.
    ///   - configure: Reads every setting of the service, and returns what makes the services.
    /// - Returns: The exit status: 0 after a shutdown, 78 for wrong settings, 64 for a wrong command line, 1 for a failure.
    public func run(
        arguments: [String] = CommandLine.arguments,
        environment: [String: String]? = nil,
        configure: (inout ServiceSettings) throws -> Launch
    ) async -> Int32 {
        switch ServiceCommandLine.parse(arguments.dropFirst()) {
        case .run(let file):
            let environment = environment ?? ProcessInfo.processInfo.environment
            return await run(environment: environment, file: file, configure: configure)
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

    /// Prints every setting with its variable, range, default and effect.
    ///
    /// - Parameter configure: As above; what it returns is not used.
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
            var settings = try ServiceSettings(environment: environment, file: file)
            let own = readOwn(&settings)
            let launch = try configure(&settings)
            settings.passOver(SettingsCatalogue.all)
            try settings.finish()

            bootstrapLogging(own.logging)
            let registry = PrometheusRegistry(maximumSeries: own.maximumSeries)
            bootstrapMetrics(registry)
            let logger = Logger(label: name)
            let health = Health(stallTimeout: own.stallTimeout)
            registry.collect { page in
                for (component, isReady) in health.readiness {
                    page.gauge(
                        "ready",
                        help: "Whether a component does its work, 1 or 0; `/health/ready` says why not.",
                        value: isReady ? 1 : 0,
                        labels: [("component", component)]
                    )
                }
            }
            let server = OpsServer(configuration: own.ops, health: health, registry: registry, logger: logger)
            let here = ServiceEnvironment(health: health, registry: registry, ops: server, logger: logger)
            logger.info("starting", metadata: ["version": "\(CarillonVersion.current)"])
            // First to start and last to stop, so that a drain can be watched.
            var services: [any Service] = [server]
            do {
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

    /// What is wrong may quote what was given.
    private func tell(_ text: String) {
        writeToStandardError(PrintableText.escaped(text, keepsLines: true))
    }

    /// The settings of every service.
    private func readOwn(_ settings: inout ServiceSettings) -> (
        logging: LoggingConfiguration, ops: OpsConfiguration, maximumSeries: Int, timeout: Duration,
        stallTimeout: Duration
    ) {
        let logging = LoggingConfiguration(settings: &settings)
        let ops = OpsConfiguration(settings: &settings, defaultPort: defaultOpsPort)
        let maximumSeries = settings.int(
            "metrics.series",
            default: PrometheusRegistry.defaultMaximumSeries,
            in: 100...1_000_000,
            about: "Series that /metrics shows; further ones are dropped, and counted."
        )
        let timeout = settings.duration(
            "process.shutdown.timeout",
            default: .seconds(25),
            in: .seconds(1) ... .seconds(3_600),
            about: "How long a graceful shutdown may take before what still runs is cancelled."
        )
        let stallTimeout = settings.duration(
            "process.stall.timeout",
            default: Health.defaultStallTimeout,
            in: .seconds(60) ... .seconds(3_600),
            about: """
                After so long a thread that does not come round makes /health/live answer 503; not below the \
                longest wait for the broker, a minute.
                """
        )
        return (logging, ops, maximumSeries, timeout, stallTimeout)
    }

    private func wrongConfiguration(_ error: any Error) -> Int32 {
        tell("\(name): the configuration is wrong\n\(error)\n")
        return Self.configurationStatus
    }
}
