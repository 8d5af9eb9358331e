import NotificationModel

/// The settings of the notification lifecycle, equal for every turn of a partition.
struct LifecycleRules: Sendable {
    /// How long closed and delivered notifications are remembered, in milliseconds.
    var retention: Int64
    /// How notifications reach a device.
    var channels = ChannelRules()
    /// Whether a crash can leave an event published whose entry does not know it: in `at-least-once`.
    var repeatsEvents = true
    var retry = RetryPolicy()
    /// The times of enrichments; nil where nothing is enriched.
    var enrichment: EnrichmentTimes?
    /// The maximum bytes of content that fit events and entries.
    var contentBytes = Int.max
    /// The maximum bytes of content that a delivered notification keeps beside others.
    var keptContentBytes = Int.max
    /// The maximum size of the record of an entry in the changelog, in bytes.
    var recordBytes = Int.max
    /// About the bytes of a recipient's active devices, regions and counts beyond which no further one is added: the record is written
    /// beside an entry's.
    var recipientBytes: Int { contentBytes / 2 }
    /// The bytes of the digests that are being collected, beside those.
    var digestBytes: Int { recipientBytes / 4 }
    /// The bytes of retired devices, beside those.
    var retiredBytes: Int { contentBytes - recipientBytes - digestBytes }
    /// Whether events list how a gateway reaches each device.
    var listsRegistrations = true
    /// Whether a recipient without a registered device gets nothing.
    var requiresDevice = false
    /// How long an app counts as being in the foreground after it said so, in milliseconds.
    var foregroundKept: Int64 = 3_600_000
    /// The active devices of a recipient, at most.
    var maximumDevices = 16
    /// Whether spans are made of what turns do.
    var isTraced = false
    /// The time zones of quiet hours and of recipients; nil where none is needed.
    var zones: TimeZones?

    /// Notifications closed before this instant are forgotten.
    func rememberedSince(_ now: Timestamp) -> Timestamp { now.adding(milliseconds: -retention) }

    /// Whether a previous owner may have handed over what the changelog has as pending.
    func mayHaveBeenHandedOver(_ channel: ChannelName?) -> Bool { repeatsEvents || channels.isSent(channel) }
}
