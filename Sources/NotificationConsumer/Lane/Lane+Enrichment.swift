import Kafka
import NotificationDelivery
import NotificationModel
import NotificationState
import ServiceSupport

/// Enrichments: side work of the lane.
extension Lane {
    typealias Enrichments = SideWork<Issued<EnrichmentWork>, EnrichedContent>

    static func enrichments(of context: LaneContext, waking link: Link) -> Enrichments {
        let settings = context.configuration.enrichment
        return SideWork(
            concurrency: max(1, settings.concurrency / context.configuration.lanes),
            bound: max(1, settings.outstanding / context.configuration.lanes),
            mailbox: .init(wake: link.wake, onLate: context.metrics.lateEnrichmentCount)
        )
    }

    /// Begins an enrichment, or queues it until another one has ended. The time in the queue is a part of its time.
    ///
    /// Reading and timers never wait for media: without room it goes out as the worker says.
    func enrich(_ work: EnrichmentWork, of number: Int32, at now: Timestamp) {
        guard enrichments.room > 0 else {
            if let worker = context.enrichment {
                declined.append((Issued(work, of: number, in: assignmentID), worker.decline(work)))
            }
            return
        }
        let time = Duration.milliseconds(max(0, work.end.rawValue - now.rawValue))
        enrichments.add(Issued(work, of: number, in: assignmentID), within: time)
        beginEnrichments()
    }

    private func beginEnrichments() {
        guard let worker = context.enrichment else { return }
        let (clock, spans) = (context.clock, spans?.enrichments)
        enrichments.begin(at: link.now) { work, reply in
            spans?.begin(work)
            var work = work
            work.work.time = .milliseconds(work.work.end.rawValue - clock().rawValue)
            // The center has sent the notification by then.
            guard work.work.time > .zero else { return reply(.gaveUp) }
            worker.begin(work, reply)
        }
    }

    /// Applies the results of enrichments since the last turn.
    func takeEnrichments() throws {
        guard let worker = context.enrichment, enrichments.count > 0 || !declined.isEmpty else { return }
        let refused = declined
        declined.removeAll(keepingCapacity: true)
        for (work, result) in refused { try apply(result, to: work) }
        for (work, ending) in enrichments.take(at: link.now) {
            switch ending {
            case .answered(let result):
                spans?.enrichments.end(work, result)
                try apply(result, to: work)
            case .timedOut(let reply):
                spans?.enrichments.end(work, nil)
                worker.cancel(reply)
                try apply(.gaveUp, to: work)
            case .withdrawn: break
            }
        }
        beginEnrichments()
    }

    private func apply(_ result: EnrichedContent, to work: Issued<EnrichmentWork>) throws {
        let now = context.clock()
        let isCurrent =
            try work.assignmentID == assignmentID
            && usingStore { try owned[work.partition]?.center.apply(result, to: work.work, at: now) } == true
        if !isCurrent { context.metrics.lateEnrichmentCount() }
        try carryOut(of: work.partition, at: now)
    }

    /// Gives up enrichments: of what is no longer sent, or of revoked partitions.
    func cancelEnrichments(where isNeedless: (Issued<EnrichmentWork>) -> Bool = { _ in true }) {
        guard let worker = context.enrichment else { return }
        for reply in enrichments.cancel(where: isNeedless) { worker.cancel(reply) }
        spans?.enrichments.forget(where: isNeedless)
    }
}
