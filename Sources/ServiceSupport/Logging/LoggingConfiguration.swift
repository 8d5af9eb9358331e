import CoreMetrics
public import Logging
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// How a service logs.
///
/// ## Settings
/// - `log.level` (choice, default `info`): `trace`, `debug`, `info`, `notice`, `warning`, `error`, `critical`.
/// - `log.format` (choice, default `auto`): `json`, `text`, or `auto`, which is text on a terminal and JSON elsewhere.
public struct LoggingConfiguration: Sendable, Hashable {
    /// The form of a record.
    public enum Format: String, Sendable, Hashable, CaseIterable {
        /// Text when standard error is a terminal, else JSON.
        case auto
        /// One JSON object per line.
        case json
        /// One line of text.
        case text
    }

    /// The lowest level that is written.
    public var level: Logger.Level
    /// The form of a record.
    public var format: Format

    /// A logging configuration.
    public init(level: Logger.Level = .info, format: Format = .auto) {
        self.level = level
        self.format = format
    }

    /// Reads `log.level` and `log.format`.
    public init(settings: inout ServiceSettings) {
        level = settings.oneOf(
            "log.level",
            default: .info,
            about: "The lowest level that is written."
        )
        format = settings.oneOf(
            "log.format",
            default: .auto,
            about: "The form of a record: `auto` is text when standard error is a terminal, else JSON."
        )
    }

    /// A logger with this configuration, independent of the process-wide system: for tests and tools.
    ///
    /// - Parameters:
    ///   - label: The logger's name.
    ///   - write: Receives one line with its newline; nil writes to standard error.
    public func logger(label: String, write: (@Sendable (String) -> Void)? = nil) -> Logger {
        Logger(label: label) { handler(label: $0, write: write) }
    }

    func handler(label: String, write: (@Sendable (String) -> Void)?) -> StructuredLogHandler {
        let isText = format == .text || (format == .auto && isatty(STDERR_FILENO) == 1)
        return StructuredLogHandler(
            label: label,
            level: level,
            isText: isText,
            write: write ?? writeToStandardError
        )
    }
}

/// Sets the process-wide logging once; later calls have no effect, because swift-log allows one only.
public func bootstrapLogging(_ configuration: LoggingConfiguration) {
    once(logging) { LoggingSystem.bootstrap { configuration.handler(label: $0, write: nil) } }
}

/// Sets the process-wide metrics once; later calls have no effect, because swift-metrics allows one only.
public func bootstrapMetrics(_ registry: PrometheusRegistry) {
    once(metrics) { MetricsSystem.bootstrap(registry) }
}

private let logging = Atomic<Bool>(false)
private let metrics = Atomic<Bool>(false)

private func once(_ isDone: borrowing Atomic<Bool>, _ body: () -> Void) {
    if !isDone.exchange(true, ordering: .acquiringAndReleasing) {
        body()
    }
}
