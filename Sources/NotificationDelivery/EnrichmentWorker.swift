package import NotificationModel

/// Enriches the content of notifications. The center decides what is enriched and until when; a worker only performs it.
///
/// Enrichments are side work of a lane (`SideWork`). A worker is used by several lanes.
package protocol EnrichmentWorker: AnyObject {
    /// Starts an enrichment without waiting. The worker replies at most once, from any thread, by the end of the work's
    /// time.
    func begin(_ work: Issued<EnrichmentWork>, _ reply: EnrichmentReply)

    /// What becomes of a notification at once when the lane has no room for its enrichment.
    func decline(_ work: EnrichmentWork) -> EnrichedContent

    /// The lane no longer waits for the result.
    func cancel(_ reply: EnrichmentReply)

    /// Frees what the worker holds, after the last lane has ended.
    func close() async
}

/// Receives the result of an enrichment.
package typealias EnrichmentReply = SideWorkReply<EnrichedContent>

/// Content to be enriched.
package struct EnrichmentWork: Hashable, Sendable {
    /// The notification's key.
    package var key: NotificationKey
    package var requestID: RequestID
    /// The nominal instant of the trigger.
    package var occurrence: Timestamp?
    /// The raw JSON object.
    package var content: ArraySlice<UInt8>
    /// By the wall clock, when the notification is sent with or without a result.
    package var end: Timestamp
    /// What remains of that time when the work begins; zero before.
    package var time: Duration
    /// The trace of what asks for it; none where nothing is traced.
    package var trace: CarriedTrace

    package init(
        key: NotificationKey,
        requestID: RequestID,
        occurrence: Timestamp?,
        content: ArraySlice<UInt8>,
        end: Timestamp,
        time: Duration = .zero,
        trace: CarriedTrace = .none
    ) {
        (self.key, self.requestID, self.occurrence) = (key, requestID, occurrence)
        (self.content, self.end, self.time, self.trace) = (content, end, time, trace)
    }
}

/// The result of an enrichment.
package struct EnrichedContent: Sendable, Hashable {
    /// What becomes of the notification.
    package enum Verdict: Sendable, Hashable {
        /// It is sent with this content, a JSON object.
        case modified(ArraySlice<UInt8>)
        /// It is sent as requested.
        case original
        /// It is not sent.
        case withheld
    }

    /// What becomes of the notification.
    package var verdict: Verdict
    /// What happened, a JSON object for the `delivered` event.
    package var report: ArraySlice<UInt8>

    /// A result.
    package init(_ verdict: Verdict, report: ArraySlice<UInt8>) {
        (self.verdict, self.report) = (verdict, report)
    }
}
