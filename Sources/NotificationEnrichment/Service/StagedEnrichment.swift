import Logging
package import NotificationDelivery
import NotificationModel
import NotificationState
import ServiceSupport
import Synchronization

/// Enriches the contents of the consumer service's lanes: each one is a task that runs the stage.
package final class StagedEnrichment: EnrichmentWorker, Sendable {
    /// What the stage needs of its time to end, and the lane to take the result.
    static let margin = Duration.milliseconds(250)

    private let stage: EnrichmentStage
    /// How long media are needed after the notification was sent, in milliseconds.
    private let kept: Int64
    private let metrics: EnrichmentMetrics
    private let logger: Logger
    private let whenClosed: @Sendable () async -> Void
    private let tasks = Mutex<[EnrichmentReply: Task<Void, Never>]>([:])

    /// - Parameters:
    ///   - stage: Its chains.
    ///   - kept: How long media are needed after the notification was sent, in milliseconds.
    ///   - metrics: Counts what became of contents.
    ///   - logger: The service's logger.
    ///   - whenClosed: Frees what the enrichers hold.
    init(
        _ stage: EnrichmentStage,
        kept: Int64,
        metrics: EnrichmentMetrics,
        logger: Logger,
        whenClosed: @escaping @Sendable () async -> Void
    ) {
        (self.stage, self.kept, self.metrics) = (stage, kept, metrics)
        (self.logger, self.whenClosed) = (logger, whenClosed)
    }

    package func begin(_ work: Issued<EnrichmentWork>, _ reply: EnrichmentReply) {
        let margin = min(Self.margin, work.time / 4)
        let input = EnrichmentInput(
            application: work.key.application,
            recipient: work.key.recipient,
            identifier: work.key.identifier,
            requestID: "\(work.requestID)",
            occurrence: work.occurrence,
            content: Array(work.content),
            deadline: .now + work.time - margin,
            neededUntil: work.end.adding(milliseconds: kept).rawValue
        )
        // Under the lock: the task must not end before it is known.
        tasks.withLock { tasks in
            tasks[reply] = Task { [self] in
                let result = await stage.run(input)
                guard self.tasks.withLock({ $0.removeValue(forKey: reply) }) != nil else { return }
                metrics.count(result)
                log(result, of: work)
                reply(EnrichedContent(result))
            }
        }
    }

    package func decline(_ work: EnrichmentWork) -> EnrichedContent {
        let result = stage.decline(Array(work.content))
        metrics.count(result)
        return EnrichedContent(result)
    }

    package func cancel(_ reply: EnrichmentReply) {
        tasks.withLock { $0.removeValue(forKey: reply) }?.cancel()
    }

    package func close() async {
        let open = tasks.withLock { tasks in
            defer { tasks = [:] }
            return tasks.values.map(\.self)
        }
        for task in open { task.cancel() }
        await whenClosed()
    }

    /// What is missing, by reason; no URL and no content.
    private func log(_ result: EnrichmentResult, of work: Issued<EnrichmentWork>) {
        let missing = result.summary.attachments.compactMap { report -> String? in
            if case .missing(let reason) = report.outcome { reason } else { nil }
        }
        let failed = result.summary.enrichers.compactMap { report in report.reason.map { "\(report.name): \($0)" } }
        guard !missing.isEmpty || result.summary.content != .enriched else { return }
        logger.info(
            "a notification is not enriched completely",
            metadata: [
                LogMetadata.requestID: "\(work.requestID)", LogMetadata.partition: "\(work.partition)",
                "missing": "\(missing.joined(separator: ", "))", "enrichers": "\(failed.joined(separator: ", "))",
                "content": "\(result.summary.content?.rawValue ?? "withheld")",
            ]
        )
    }
}

extension EnrichedContent {
    fileprivate init(_ result: EnrichmentResult) {
        let report = ArraySlice(result.report)
        switch result.verdict {
        case .enriched(let content): self.init(.modified(ArraySlice(content)), report: report)
        case .original: self.init(.original, report: report)
        case .doNotDeliver: self.init(.withheld, report: report)
        }
    }
}
