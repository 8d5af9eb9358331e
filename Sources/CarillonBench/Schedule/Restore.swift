import ArgumentParser
import NotificationModel

/// `carillon-bench restore`.
struct RestoreCommand: BenchmarkCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract:
            "Restore time of pending notifications: from the changelog alone, and with the files on disk.",
        discussion: """
            The service is filled and stopped; its files are deleted, and it starts again. Time is measured as in its \
            metric `carillon_restore_duration_seconds` does: from the assignment of partitions until they are \
            processed, without the join of the group. Then it is stopped and started with its files. Ready means that it \
            processes all partitions: from the start of the process, with the join, which takes 3 s with the embedded \
            broker. CPU is that of the process that read the changelog, from its start until all it restored is on disk.
            """
    )

    @Option(help: "Pending notifications.")
    var entries = 1_000_000
    @Option(help: "Partitions of the topics; the embedded broker keeps 5 MiB of each.")
    var partitions: Int32 = 64
    @OptionGroup var common: CommonOptions

    func validate() throws {
        try requireRange("--entries", entries, 0...50_000_000)
        try requireRange("--partitions", partitions, 1...1_000)
    }

    func measure(on workbench: Workbench) throws -> Report {
        let result = try RestoreBenchmark(entries: entries, partitions: partitions, workbench: workbench).run()
        let records = Double(result.records)
        let workload = Workload(
            name: "\(entries) pending over \(partitions) partitions\(Programs.build)",
            figures: [
                Figure("entries", given: entries), Figure("partitions", given: partitions),
                Figure("records", "records of the changelog", records, as: .whole),
                Figure("seconds_from_changelog", "s from the changelog alone", result.secondsFromChangelog),
                Figure("seconds_to_ready_from_changelog", "s to ready", result.readyFromChangelog),
                Figure("records_per_second", "records/s", records / result.secondsFromChangelog, as: .whole),
                Figure("cpu_seconds", "CPU s", result.cpuSeconds),
                Figure("peak_resident_bytes", "peak MiB", Double(result.peakResidentBytes), as: .mebibytes),
                Figure("seconds_with_current_file", "s with the files", result.secondsWithCurrentFile),
                Figure("seconds_to_ready_with_files", "s to ready with them", result.readyWithCurrentFile),
            ]
        )
        return Report(benchmark: "restore", workloads: [workload])
    }
}

/// Restarts the service, without its files and with them.
struct RestoreBenchmark {
    struct Result: Sendable {
        /// Records of the changelog: entries and markers.
        var records: Int64
        /// From the assignment of partitions until they are processed.
        var secondsFromChangelog: Double
        /// Of the process that read the changelog.
        var peakResidentBytes: Int
        /// Of the same, until all was on disk.
        var cpuSeconds: Double
        var secondsWithCurrentFile: Double
        /// From the start of the process until it processes all partitions.
        var readyFromChangelog: Double
        var readyWithCurrentFile: Double
    }

    var entries: Int
    var partitions: Int32
    var workbench: Workbench

    /// - Throws: ``BenchmarkError`` when not everything is restored.
    func run() throws -> Result {
        workbench.report("restore: \(entries) pending over \(partitions) partitions")
        return try BenchmarkBroker.with(partitions: partitions, logger: workbench.logger) { broker in
            // A single lane restores everything, so that its metric is the total time.
            let service = try ScheduleService(of: broker, filling: entries, lanes: 1, on: workbench)
            try service.awaitAssignment()
            try service.fill(entries)
            try service.awaitQuiet(pending: entries)
            try service.end()
            let changelog = try TopicBounds(of: broker.topics.state, on: broker)
            try changelog.requireAll()
            workbench.report("restore: from \(changelog.written) records of the changelog")
            service.deleteStore()
            let alone = try restored(service)
            let sample = try service.process.sample()
            try service.end()
            workbench.report("restore: with the files")
            let current = try restored(service)
            try service.end()
            return Result(
                records: changelog.written,
                secondsFromChangelog: alone.restore,
                peakResidentBytes: sample.peakResidentBytes,
                cpuSeconds: sample.cpuSeconds,
                secondsWithCurrentFile: current.restore,
                readyFromChangelog: alone.ready,
                readyWithCurrentFile: current.ready
            )
        }
    }

    /// - Returns: seconds since the assignment, and since the start of the process.
    private func restored(_ service: ScheduleService) throws -> (restore: Double, ready: Double) {
        let start = ContinuousClock.now
        try service.start()
        let ready = try service.secondsToReady(since: start)
        let metrics = try service.metrics()
        guard metrics["carillon_restore_duration_seconds_count"] == 1,
            let seconds = metrics["carillon_restore_duration_seconds_sum"], seconds > 0
        else { throw BenchmarkError("the partitions were assigned more than once: run it again") }
        try service.awaitQuiet(pending: entries)
        return (seconds, ready)
    }
}
