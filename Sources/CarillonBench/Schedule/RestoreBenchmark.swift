import LocalBroker
import Logging
import NotificationModel

/// Starts the service again, without its files and with them.
struct RestoreBenchmark {
    var entries: Int
    var workload: ScheduleWorkload
    var logger: Logger
    var report: (String) -> Void

    /// - Throws: ``BenchmarkError`` when not everything comes back.
    func run() throws -> RestoreReport {
        report("restore: \(entries) pending over \(workload.partitions) partitions")
        return try LocalBroker.with(partitions: workload.partitions) { broker, topics in
            // One lane restores all, so that its metric is the time for all.
            let service = try ScheduleService(workload, on: broker, topics, lanes: 1, logger: logger)
            try service.awaitAssignment()
            try service.fill(entries, topics)
            try service.awaitQuiet(pending: entries)
            try service.end()
            let changelog = try TopicBounds(of: topics.state, workload.partitions, on: broker, logger: logger)
            guard changelog.lost == 0 else {
                throw BenchmarkError(
                    "the embedded broker threw \(changelog.lost) records of the changelog away: use more partitions"
                )
            }
            report("restore: from \(changelog.written) records of the changelog")
            service.deleteStore()
            let alone = try restored(service)
            let peak = try service.process.sample().peakResidentBytes
            try service.end()
            report("restore: with the files")
            let current = try restored(service)
            try service.end()
            return RestoreReport(
                entries: entries,
                partitions: workload.partitions,
                records: Int(changelog.written),
                secondsFromChangelog: alone,
                peakResidentBytes: peak,
                secondsWithCurrentFile: current
            )
        }
    }

    /// - Returns: seconds from the assignment on.
    private func restored(_ service: ScheduleService) throws -> Double {
        try service.start()
        try service.awaitAssignment()
        let metrics = try service.metrics()
        guard metrics["carillon_restore_duration_seconds_count"] == 1,
            let seconds = metrics["carillon_restore_duration_seconds_sum"], seconds > 0
        else { throw BenchmarkError("the partitions were assigned more than once") }
        try service.awaitQuiet(pending: entries)
        return seconds
    }
}
