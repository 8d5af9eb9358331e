package import ServiceSupport

/// The times and bounds of enrichments.
package struct LaneEnrichmentConfiguration: Sendable {
    /// How long a notification waits for it at most.
    package var deadline = Duration.seconds(30)
    /// How long before the due time of a timed notification it begins.
    package var lead = Duration.seconds(10)
    /// Enrichments of the process at one time.
    package var concurrency = 64
    /// Enrichments of the process without a result, those that wait included.
    package var outstanding = 2000

    package init() {}

    /// Reads `enrichment.deadline` to `enrichment.outstanding`. Problems are recorded in `settings`.
    package init(settings: inout ServiceSettings) {
        deadline = settings.duration(
            "enrichment.deadline",
            default: deadline,
            in: .milliseconds(100) ... .seconds(600),
            about: "How long a notification waits for its enrichment; then it is sent with the best attempt so far."
        )
        lead = settings.duration(
            "enrichment.lead",
            default: lead,
            in: .zero ... .seconds(600),
            about: """
                How long before the due time the enrichment of a timed notification begins, so that it is sent on time; at \
                most `enrichment.deadline`.
                """
        )
        concurrency = settings.int(
            "enrichment.concurrency",
            default: concurrency,
            in: 1...10_000,
            about: "Enrichments of the process at one time, which its lanes share equally."
        )
        outstanding = settings.int(
            "enrichment.outstanding",
            default: outstanding,
            in: 1...1_000_000,
            about: """
                Enrichments of the process without a result, those that wait included; at the bound of a lane its reading and \
                timers pause.
                """
        )
        if lead > deadline { settings.reject("enrichment.lead", "must be at most enrichment.deadline") }
    }
}
