package import ServiceSupport

/// What is enriched, and how; the times and bounds of enrichments are the lanes'.
package struct EnrichmentConfiguration: Sendable {
    /// Whether there is any.
    package var isEnabled = false
    /// The file of the chains of enrichers; empty for attachments only.
    package var chainsFile = ""
    /// Fetched media.
    package var media = MediaConfiguration()

    package init() {}

    /// Reads `enrichment.enabled`, `enrichment.chains.file` and `media.*`. Problems are recorded in `settings`.
    package init(settings: inout ServiceSettings) {
        isEnabled = settings.bool(
            "enrichment.enabled",
            default: isEnabled,
            about: """
                Whether a notification with `mutableContent` and alert text is enriched before it is sent: its attachments \
                are fetched, checked and stored, and its content is modified by the configured enrichers.
                """
        )
        chainsFile =
            settings.optionalString(
                "enrichment.chains.file",
                about: """
                    The YAML file of the enrichers and of their chains by category; without it there is one chain, which \
                    fetches attachments.
                    """
            ) ?? ""
        media = MediaConfiguration(settings: &settings)
        if isEnabled, media.directory.isEmpty {
            settings.reject("media.directory", "is required by `enrichment.enabled`: where fetched media are kept")
        }
    }
}
