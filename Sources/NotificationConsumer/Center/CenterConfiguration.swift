package import ServiceSupport

/// What the centers of partitions remember, and of how many; what events say of devices.
package struct CenterConfiguration: Sendable {
    /// How long delivered and closed notifications are remembered.
    package var retention = Duration.seconds(7 * 24 * 3600)
    /// Maximum number of entries of a partition.
    package var maximumEntries = 1_000_000
    /// Maximum number of recipients with devices, regions or digests, and of owned tokens, of a partition.
    package var maximumRecipients = 10_000_000
    /// Entries of a partition that stay in memory without a timer that is due soon.
    package var residentEntries = 20_000
    /// Notifications of a recipient in an application that may wait for a region.
    package var regionsPerRecipient = 100
    /// Active devices of a recipient in an application.
    package var devicesPerRecipient = 16
    /// Whether events list how a gateway reaches each device: platform, token, environment and bundle identifier.
    package var listsRegistrations = true
    /// Whether a recipient without a registered device gets nothing.
    package var requiresDevice = false
    /// How long an app counts as being in the foreground after it said so.
    package var foregroundKept: Duration = .seconds(3600)
    /// Entries that a removal of all of a recipient's notifications changes before a checkpoint may interrupt it.
    package var entriesPerPiece = 1000
    /// Slots of entries of a partition whose memory is kept after a burst.
    package var keptSlots = 1024

    package init() {}

    /// Reads `center.*`, `deliveries.registrations` and `devices.*`. Problems are recorded in `settings`.
    package init(settings: inout ServiceSettings) {
        retention = settings.duration(
            "center.retention",
            default: retention,
            in: .seconds(60) ... .seconds(365 * 24 * 3600),
            about: "How long delivered and closed notifications are remembered."
        )
        maximumEntries = settings.int(
            "center.entries",
            default: maximumEntries,
            in: 1...100_000_000,
            about: """
                Entries of a partition; at the limit the least recently used are dropped, and when all are pending \
                a new request is `suppressed` as `capped`.
                """
        )
        maximumRecipients = settings.int(
            "center.recipients",
            default: maximumRecipients,
            in: 1...1_000_000_000,
            about: """
                Recipients of a partition with devices, regions or digests, and owners of tokens, beside \
                `center.entries`; at the limit the first device of another one is refused as `capped`.
                """
        )
        residentEntries = settings.int(
            "center.resident.entries",
            default: residentEntries,
            in: 100...100_000_000,
            about: """
                Entries of a partition that stay in memory without a timer that is due soon; beyond it the least \
                recently used go to the store.
                """
        )
        regionsPerRecipient = settings.int(
            "center.regions",
            default: regionsPerRecipient,
            in: 1...1000,
            about: """
                Notifications of a recipient, in an application, that wait for a region; at the limit a new request with a \
                location trigger is `suppressed` as `capped`. Each location of a device rewrites what is kept of its \
                recipient, about 250 bytes a region.
                """
        )
        devicesPerRecipient = settings.int(
            "center.devices",
            default: devicesPerRecipient,
            in: 1...1000,
            about: """
                Devices of a recipient in an application; at the limit a new one retires the one that was registered longest \
                ago. Each change of one rewrites what is kept of its recipient, about 400 bytes a device.
                """
        )
        listsRegistrations = settings.bool(
            "deliveries.registrations",
            default: listsRegistrations,
            about: """
                Whether events list the platform, token, environment and bundle identifier of each device, as a gateway \
                needs them. Without them who reads `deliveries` sees no tokens, and the gateway has its own table.
                """
        )
        requiresDevice = settings.bool(
            "devices.required",
            default: requiresDevice,
            about: """
                Whether a notification for a recipient without a registered device is `suppressed` as `no-device`. \
                Otherwise it is delivered without a list of devices, for a gateway that knows them.
                """
        )
        foregroundKept = settings.duration(
            "devices.foreground",
            default: foregroundKept,
            in: .seconds(10) ... .seconds(24 * 3600),
            about: "How long an app counts as being in the foreground after it said so: it may end without saying it."
        )
    }
}
