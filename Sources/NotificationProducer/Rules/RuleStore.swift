import Kafka
import Logging
import Metrics
import NotificationModel
import ServiceSupport
import Synchronization

/// The rules in force, and their replacement while the service runs.
final class RuleStore: Sendable {
    private let path: String
    private let defaultApplication: String
    private let unmatched: UnmatchedEvents
    private let now: @Sendable () -> Timestamp
    private let current: Mutex<RuleEngine>
    /// One reload at a time, so that the last file read is in force.
    private let reloading = Mutex(())
    private let metrics = Metrics()

    private struct Metrics: Sendable {
        /// Reloads of the file by outcome.
        let succeeded = Counter(label: "carillon_rules_reloads_total", dimensions: [("outcome", "success")])
        let failed = Counter(label: "carillon_rules_reloads_total", dimensions: [("outcome", "failure")])
        /// When the rules in force were read.
        let lastSuccess = Gauge(label: "carillon_rules_reload_success_timestamp_seconds")

        func noteSuccess(_ time: Timestamp) {
            lastSuccess.record(Double(time.rawValue) / 1_000)
        }
    }

    /// Reads the file for the first time.
    init(
        path: String,
        defaultApplication: String,
        unmatched: UnmatchedEvents = .deadLetter,
        now: @escaping @Sendable () -> Timestamp
    ) throws(RuleFileError) {
        self.path = path
        self.defaultApplication = defaultApplication
        self.unmatched = unmatched
        self.now = now
        current = Mutex(
            RuleEngine(
                rules: try RuleFile.load(path: path),
                defaultApplication: defaultApplication,
                unmatched: unmatched
            )
        )
        metrics.noteSuccess(now())
    }

    /// The rules for one event; call it once per event, to use one consistent set.
    var engine: RuleEngine {
        current.withLock { $0 }
    }

    /// Reloads the file on a separate thread. An invalid file changes nothing; its problems are logged.
    ///
    /// - Returns: Whether the rules in force are those of the file.
    func reload(logger: Logger) async -> Bool {
        // The closure does not throw.
        (try? await KafkaThread.run(name: "carillon-rules") { self.reloadNow(logger) }) ?? false
    }

    /// Logs what the file probably does not mean.
    func logWarnings(_ logger: Logger) {
        for warning in engine.rules.warnings {
            logger.warning(
                "doubt about the rule file",
                metadata: [LogMetadata.file: "\(path)", LogMetadata.reason: "\(warning)"]
            )
        }
    }

    private func reloadNow(_ logger: Logger) -> Bool {
        reloading.withLock { _ in
            do throws(RuleFileError) {
                let rules = try RuleFile.load(path: path)
                current.withLock {
                    $0 = RuleEngine(rules: rules, defaultApplication: defaultApplication, unmatched: unmatched)
                }
                metrics.succeeded.increment()
                metrics.noteSuccess(now())
                logger.info(
                    "rules reloaded",
                    metadata: [LogMetadata.file: "\(path)", LogMetadata.count: "\(rules.count)"]
                )
                logWarnings(logger)
                return true
            } catch {
                metrics.failed.increment()
                for problem in error.problems {
                    logger.error(
                        "problem in the rule file",
                        metadata: [LogMetadata.file: "\(path)", LogMetadata.error: "\(problem)"]
                    )
                }
                logger.error(
                    "rules not reloaded: the previous rules stay in force",
                    metadata: [LogMetadata.file: "\(path)", LogMetadata.count: "\(error.problems.count)"]
                )
                return false
            }
        }
    }
}
