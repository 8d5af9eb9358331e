import Foundation

extension ConsumerServiceConfiguration {
    /// The enrichment of notifications that ask for it.
    public struct Enrichment: Sendable {
        /// Whether there is any.
        public var isEnabled = false
        /// How long a notification waits for it at most.
        public var deadline = Duration.seconds(30)
        /// How long before the due time of a timed notification it begins.
        public var lead = Duration.seconds(10)
        /// Enrichments of the process at one time.
        public var concurrency = 64
        /// Enrichments of the process without a result, those that wait included.
        public var outstanding = 2000
        /// The file of the chains of enrichers; empty for attachments only.
        public var chainsFile = ""
    }

    mutating func readEnrichment(_ settings: inout ServiceSettings, _ defaults: Enrichment) {
        enrichment.isEnabled = settings.bool(
            "enrichment.enabled",
            default: defaults.isEnabled,
            about: """
                Whether a notification with `mutableContent` and alert text is enriched before it is sent: its attachments \
                are fetched, checked and stored, and its content is modified by the configured enrichers.
                """
        )
        enrichment.deadline = settings.duration(
            "enrichment.deadline",
            default: defaults.deadline,
            in: .milliseconds(100) ... .seconds(600),
            about: "How long a notification waits for its enrichment; then it is sent with the best attempt so far."
        )
        enrichment.lead = settings.duration(
            "enrichment.lead",
            default: defaults.lead,
            in: .zero ... .seconds(600),
            about: """
                How long before the due time the enrichment of a timed notification begins, so that it is sent on time; at \
                most `enrichment.deadline`.
                """
        )
        enrichment.concurrency = settings.int(
            "enrichment.concurrency",
            default: defaults.concurrency,
            in: 1...10_000,
            about: "Enrichments of the process at one time, which its lanes share equally."
        )
        enrichment.outstanding = settings.int(
            "enrichment.outstanding",
            default: defaults.outstanding,
            in: 1...1_000_000,
            about: """
                Enrichments of the process without a result, those that wait included; at the bound of a lane its reading and \
                timers pause.
                """
        )
        enrichment.chainsFile =
            settings.optionalString(
                "enrichment.chains.file",
                about: """
                    The YAML file of the enrichers and of their chains by category; without it there is one chain, which \
                    fetches attachments.
                    """
            ) ?? ""
        readMedia(&settings, defaults: ConsumerServiceConfiguration.Media())
        if enrichment.lead > enrichment.deadline {
            settings.reject("enrichment.lead", "must be at most enrichment.deadline")
        }
        guard enrichment.isEnabled else { return }
        if media.directory.isEmpty {
            settings.reject("media.directory", "is required by `enrichment.enabled`: where fetched media are kept")
        }
    }

    /// After the settings of the HTTP port: media are served there.
    func checkMediaAddress(_ settings: inout ServiceSettings) {
        guard enrichment.isEnabled, media.baseURL.isEmpty, queries.port == 0 else { return }
        settings.reject("media.url", "is required when `queries.port` is 0: the address of media is not known before")
    }
}
