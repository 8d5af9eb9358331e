import NotificationModel
import NotificationState
import ServiceSupport

/// What the settings say to the centers of partitions.
extension LifecycleRules {
    /// - Parameter requests: what requests may be in this lane.
    init(_ context: LaneContext, _ requests: RequestIntake) {
        let settings = context.configuration.center
        self.init(retention: settings.retention.milliseconds)
        channels = requests.channels
        repeatsEvents = context.guarantee == .atLeastOnce
        retry = context.configuration.retry
        if context.enrichment != nil { enrichment = EnrichmentTimes(context.configuration.enrichment) }
        contentBytes = requests.contentBytes
        keptContentBytes = requests.bound.content(contents: requests.contents + 1)
        recordBytes = requests.bound.bytes
        listsRegistrations = settings.listsRegistrations
        requiresDevice = settings.requiresDevice
        foregroundKept = settings.foregroundKept.milliseconds
        maximumDevices = settings.devicesPerRecipient
        zones = context.zones
        isTraced = context.tracer != nil
    }
}

extension PartitionCenter.Limits {
    init(_ settings: CenterConfiguration) {
        self.init(
            maximumEntries: settings.maximumEntries,
            maximumRecipients: settings.maximumRecipients,
            maximumResident: settings.residentEntries,
            retention: settings.retention.milliseconds,
            entriesPerPiece: settings.entriesPerPiece,
            keptSlots: settings.keptSlots,
            regionsPerRecipient: settings.regionsPerRecipient
        )
    }
}
