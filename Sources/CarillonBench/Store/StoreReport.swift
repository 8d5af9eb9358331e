/// What `carillon bench store` prints.
struct StoreReport: Encodable {
    var benchmark = "store"
    var entries: Int
    /// From the first change to the last one on disk.
    var insertsPerSecond: Double
    /// Of the thread that writes; nil where the kernel does not say.
    var writerMicrosecondsPerInsert: Double?
    /// Of the thread that hands changes over.
    var handoverMicrosecondsPerInsert: Double
    /// What the process has more than before, when all is written.
    var residentBytesPerPending: Double
    /// Of the closed file.
    var diskBytesPerPending: Double
    var closeSeconds: Double
    var reopenSeconds: Double
    /// Read in order, a thousand at a time, with their values.
    var dueScannedPerSecond: Double
    /// Random keys that are there.
    var hitMicroseconds: Double
    /// Keys that are not.
    var missMicroseconds: Double

    enum CodingKeys: String, CodingKey {
        case benchmark, entries
        case insertsPerSecond = "inserts_per_second"
        case writerMicrosecondsPerInsert = "writer_cpu_us_per_insert"
        case handoverMicrosecondsPerInsert = "handover_us_per_insert"
        case residentBytesPerPending = "resident_bytes_per_pending"
        case diskBytesPerPending = "disk_bytes_per_pending"
        case closeSeconds = "close_seconds"
        case reopenSeconds = "reopen_seconds"
        case dueScannedPerSecond = "due_scanned_per_second"
        case hitMicroseconds = "hit_us"
        case missMicroseconds = "miss_us"
    }

    var table: String {
        TextTable.text([
            ["pending entries", "\(entries)"],
            ["inserts a second", "\(Int(insertsPerSecond))"],
            ["writer, CPU us an insert", writerMicrosecondsPerInsert.map(PipelineReport.decimals) ?? "-"],
            ["hand-over, us an insert", PipelineReport.decimals(handoverMicrosecondsPerInsert)],
            ["memory, bytes an entry", PipelineReport.decimals(residentBytesPerPending)],
            ["disk, bytes an entry", PipelineReport.decimals(diskBytesPerPending)],
            ["closing, s", PipelineReport.decimals(closeSeconds)],
            ["opening again, s", PipelineReport.decimals(reopenSeconds)],
            ["due read a second", "\(Int(dueScannedPerSecond))"],
            ["found by key, us", PipelineReport.decimals(hitMicroseconds)],
            ["not there, us", PipelineReport.decimals(missMicroseconds)],
        ])
    }
}
