package import NotificationModel
import ServiceSupport

/// Enriches the content of notifications. The center decides what is enriched and until when; a worker only performs it.
///
/// Enrichments are side work of a lane (`SideWork`). A worker is used by several lanes.
package protocol EnrichmentWorker: AnyObject {
    /// Starts an enrichment without waiting. The worker replies at most once, from any thread, by the end of the work's
    /// time.
    func begin(_ work: EnrichmentWork, _ reply: EnrichmentReply)

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
    /// What remains of that time when the work begins.
    package var time: Duration
    /// The assignment and the partition of the center: the result is for no other.
    package var assignmentID: UInt64
    package var partition: Int32
}

/// An enrichment that a turn asks for.
struct EnrichmentRequest: Hashable, Sendable {
    var key: NotificationKey
    var requestID: RequestID
    var occurrence: Timestamp?
    var content: ArraySlice<UInt8>
    var end: Timestamp
}

/// The times of enrichments, in milliseconds.
struct EnrichmentTimes: Hashable, Sendable {
    /// How long a notification waits for its enrichment at most.
    var deadline: Int64
    /// How long before the due time an enrichment begins; at most `deadline`.
    var lead: Int64

    init(deadline: Int64, lead: Int64) {
        (self.deadline, self.lead) = (deadline, min(lead, deadline))
    }

    init(_ settings: ConsumerServiceConfiguration.Enrichment) {
        self.init(deadline: settings.deadline.milliseconds, lead: settings.lead.milliseconds)
    }
}
