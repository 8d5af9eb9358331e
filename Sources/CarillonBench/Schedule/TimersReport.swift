/// What `carillon bench timers` prints.
struct TimersReport: Encodable {
    struct Subject: Encodable {
        var name: String
        /// APScheduler has fewer.
        var entries: Int
        var insertsPerSecond: Double
        /// Beyond idle, with what the allocator keeps of the buffers that the requests went through.
        var residentBytesPerPending: Double
        /// Beyond idle, of a process that was started with them on disk; nil where nothing is.
        var restartedBytesPerPending: Double?
        /// Of the closed files; nil where nothing is on disk.
        var diskBytesPerPending: Double?
        /// From the first record that could be read until all was in the changelog and on disk, seen every half a second.
        var secondsUntilWritten: Double?

        enum CodingKeys: String, CodingKey {
            case name, entries
            case insertsPerSecond = "inserts_per_second"
            case residentBytesPerPending = "resident_bytes_per_pending"
            case restartedBytesPerPending = "resident_bytes_per_pending_restarted"
            case diskBytesPerPending = "disk_bytes_per_pending"
            case secondsUntilWritten = "seconds_until_written"
        }
    }

    var benchmark = "timers"
    var entries: Int
    var partitions: Int32
    var subjects: [Subject]
    /// Carillon's figures over those of each of the others.
    var ratios: [String: Double]

    init(entries: Int, partitions: Int32, subjects: [Subject]) {
        (self.entries, self.partitions, self.subjects) = (entries, partitions, subjects)
        ratios = [:]
        guard let carillon = subjects.first(where: { $0.name == "carillon" }) else { return }
        for other in subjects where other.name != carillon.name {
            ratios["inserts_vs_\(other.name)"] = carillon.insertsPerSecond / other.insertsPerSecond
            ratios["memory_vs_\(other.name)"] = carillon.residentBytesPerPending / other.residentBytesPerPending
        }
    }

    var table: String {
        TextTable.text(
            [["", "pending", "inserts/s", "memory, bytes each", "started again", "disk, bytes each"]]
                + subjects.map { subject in
                    [
                        subject.name, "\(subject.entries)", "\(Int(subject.insertsPerSecond))",
                        "\(Int(subject.residentBytesPerPending))",
                        subject.restartedBytesPerPending.map { "\(Int($0))" } ?? "-",
                        subject.diskBytesPerPending.map { "\(Int($0))" } ?? "-",
                    ]
                }
        )
            + subjects.compactMap(\.secondsUntilWritten).map { seconds in
                "\nall in the changelog and on disk after \(PipelineReport.decimals(seconds)) s"
            }.joined()
            + ratios.sorted { $0.key < $1.key }.map { "\n\($0.key): \(PipelineReport.decimals($0.value))" }.joined()
    }
}
