import NotificationDelivery
import NotificationModel
import ServiceTracing

/// The spans of side work in progress: sampled work only. Used on the lane's thread.
package final class OpenSpans<Work: Hashable> {
    private let tracer: Tracer
    private var open: [Work: Span] = [:]

    init(_ tracer: Tracer) { self.tracer = tracer }

    private func end(_ work: Work, _ error: String?, _ outcome: String) {
        guard var span = open.removeValue(forKey: work) else { return }
        span.set("carillon.outcome", outcome)
        tracer.end(span, error: error)
    }

    /// Drops the spans of work that is given up: another owner of the partition does it.
    func forget(where isNeedless: (Work) -> Bool) {
        for work in open.keys.filter(isNeedless) { open[work] = nil }
    }
}

extension OpenSpans<Issued<ChannelSend>> {
    /// Begins an attempt.
    ///
    /// - Returns: the same attempt, naming its span.
    func begin(_ send: Issued<ChannelSend>) -> Issued<ChannelSend> {
        guard let parent = send.work.trace.sampled else { return send }
        let channel = send.work.channel.rawValue
        var hash = SpanHash("attempt")
        hash.add(send.work.id)
        hash.add(UInt64(send.work.attempt))
        let isRemoval = send.work.kind == .remove
        var span = Span(
            "\(isRemoval ? "remove" : "deliver") \(channel)",
            .client,
            parent.child(hash.value),
            parent: parent,
            start: tracer.now
        )
        span.set("carillon.channel", channel)
        if send.work.channel != .test { span.set("http.request.method", "POST") }
        if send.work.attempt > 1 { span.set("http.request.resend_count", Int64(send.work.attempt - 1)) }
        open[send] = span
        var named = send
        named.work.span = span.context
        return named
    }

    func end(_ send: Issued<ChannelSend>, _ result: ChannelResult, isTimedOut: Bool) {
        switch result {
        case .accepted, .reduced, .removed: end(send, nil, "accepted")
        case .rejected(let reason): end(send, reason.rawValue, "rejected")
        case .gone: end(send, ReasonCode.unregistered.rawValue, "rejected")
        case .failed: end(send, "failed", "failed")
        case .unanswered: end(send, isTimedOut ? "timed-out" : "unanswered", "unanswered")
        // It was not tried, and the next attempt has the same number.
        case .deferred: open[send] = nil
        }
    }
}

extension OpenSpans<Issued<EnrichmentWork>> {
    func begin(_ work: Issued<EnrichmentWork>) {
        guard let parent = work.work.trace.sampled else { return }
        var hash = SpanHash("enrich")
        hash.add(work.work.requestID)
        hash.add(work.work.occurrence)
        open[work] = Span("enrich", .internal, parent.child(hash.value), parent: parent, start: tracer.now)
    }

    /// - Parameter result: nil when its time has passed.
    func end(_ work: Issued<EnrichmentWork>, _ result: EnrichedContent?) {
        switch result?.verdict {
        case .modified: end(work, nil, "modified")
        case .original: end(work, nil, "original")
        case .withheld: end(work, nil, "withheld")
        case nil: end(work, "timed-out", "original")
        }
    }
}
