import NotificationModel

/// The times of enrichments, in milliseconds.
struct EnrichmentTimes: Hashable, Sendable {
    /// How long a notification waits for its enrichment at most.
    var deadline: Int64
    /// How long before the due time an enrichment begins; at most `deadline`.
    var lead: Int64

    init(deadline: Int64, lead: Int64) {
        (self.deadline, self.lead) = (deadline, min(lead, deadline))
    }

    init(_ settings: LaneEnrichmentConfiguration) {
        self.init(deadline: settings.deadline.milliseconds, lead: settings.lead.milliseconds)
    }
}
