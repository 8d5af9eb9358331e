package import ServiceSupport

/// Where committed entries are kept.
package struct StoreConfiguration: Sendable {
    /// The directory for committed entries; nil keeps them in memory.
    package var directory: String?
    /// The maximum age of a usable file.
    package var deletionsKept = Duration.seconds(23 * 3600)
    /// Changes of a lane that may wait for the disk.
    package var unwrittenChanges = 100_000

    package init() {}

    /// Reads `store.*`. Problems are recorded in `settings`.
    package init(settings: inout ServiceSettings) {
        directory = settings.optionalString(
            "store.directory",
            about: """
                The directory for committed entries, one file per partition: a copy of the changelog that makes \
                restarts fast and saves memory, and can be deleted at any time. Without it entries are kept in \
                memory, and also while the disk is full or fails. A directory that cannot be created or written \
                prevents the start.
                """
        )
        deletionsKept = settings.duration(
            "store.deletions.kept",
            default: deletionsKept,
            in: .seconds(60) ... .seconds(365 * 24 * 3600),
            about: """
                An older file is not used, because it may have missed a deletion; must be below \
                `delete.retention.ms` of the topic `state`.
                """
        )
        unwrittenChanges = settings.int(
            "store.unwritten",
            default: unwrittenChanges,
            in: 1000...10_000_000,
            about: "Changes of a lane that wait for the disk; at the limit reading pauses, and timers keep firing."
        )
    }
}
