/// What `carillon bench restore` prints.
struct RestoreReport: Encodable {
    var benchmark = "restore"
    var entries: Int
    var partitions: Int32
    /// Of the changelog: entries and markers.
    var records: Int
    /// From the assignment of partitions until they are worked on.
    var secondsFromChangelog: Double
    var recordsPerSecond: Double
    /// Of the process that read the changelog.
    var peakResidentBytes: Int
    var secondsWithCurrentFile: Double

    enum CodingKeys: String, CodingKey {
        case benchmark, entries, partitions, records
        case secondsFromChangelog = "seconds_from_changelog"
        case recordsPerSecond = "records_per_second"
        case peakResidentBytes = "peak_resident_bytes"
        case secondsWithCurrentFile = "seconds_with_current_file"
    }

    init(
        entries: Int,
        partitions: Int32,
        records: Int,
        secondsFromChangelog: Double,
        peakResidentBytes: Int,
        secondsWithCurrentFile: Double
    ) {
        (self.entries, self.partitions, self.records) = (entries, partitions, records)
        self.secondsFromChangelog = secondsFromChangelog
        recordsPerSecond = Double(records) / secondsFromChangelog
        self.peakResidentBytes = peakResidentBytes
        self.secondsWithCurrentFile = secondsWithCurrentFile
    }

    var table: String {
        TextTable.text([
            ["pending, over \(partitions) partitions", "\(entries)"],
            ["records of the changelog", "\(records)"],
            ["from the changelog alone, s", PipelineReport.decimals(secondsFromChangelog)],
            ["records a second", "\(Int(recordsPerSecond))"],
            ["peak MiB", "\(peakResidentBytes >> 20)"],
            ["with the files, s", PipelineReport.decimals(secondsWithCurrentFile)],
        ])
    }
}
