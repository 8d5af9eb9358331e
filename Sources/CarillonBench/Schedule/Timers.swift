import ArgumentParser
import Foundation
import Kafka
import NotificationModel

/// `carillon-bench timers`.
struct TimersCommand: BenchmarkCommand {
    enum SubjectName: String, CaseIterable, ExpressibleByArgument {
        case carillon, jemalloc, redis, apscheduler
    }

    static let configuration = CommandConfiguration(
        commandName: "timers",
        abstract: "Pending notifications in the running service, compared with Redis and APScheduler.",
        discussion: """
            Requests of about 400 bytes, due in weeks, each with its own key. They are on the broker before the \
            consumer service, which is paused, resumes: only it and the broker use the cores. Inserts count from the \
            first `scheduled` event to the last; CPU is what the process has used, and memory what it has beyond idle, once \
            all is in the changelog and on disk. It has the default number of lanes.

            Redis (Debian's redis-server, nothing on disk) gets the same bodies from redis-py, a sorted set and a \
            string each, in pipelines of 1,000; APScheduler keeps fewer jobs in its memory store, so that its figures \
            per entry are those of a smaller set. jemalloc is carillon with that allocator, unless the build has \
            linked it.
            """
    )

    @Option(help: "Pending notifications.")
    var entries = 1_000_000
    @Option(help: "Maximum number of pending notifications of APScheduler, which is slow.")
    var apschedulerEntries = 50_000
    @Option(help: "Partitions of the topics; the embedded broker keeps 5 MiB of each.")
    var partitions: Int32 = 64
    @OptionGroup var programs: SubjectOptions<SubjectName>
    @OptionGroup var common: CommonOptions

    func validate() throws {
        try requireRange("--entries", entries, 1...50_000_000)
        try requireRange("--apscheduler-entries", apschedulerEntries, 1...1_000_000)
        try requireRange("--partitions", partitions, 1...1_000)
    }

    var workloadName: String {
        "\(entries) pending over \(partitions) partitions, \(apschedulerJobs) in APScheduler"
    }

    private var apschedulerJobs: Int { min(entries, apschedulerEntries) }

    func measure(on workbench: Workbench) throws -> Report {
        var results: [TimersResult] = []
        let benchmark = TimersBenchmark(entries: entries, partitions: partitions, workbench: workbench)
        try programs.with(.carillon, on: workbench) { results.append(try benchmark.run()) }
        try programs.with(.jemalloc, on: workbench) {
            results.append(try benchmark.run(preloading: Programs.jemalloc()))
        }
        try programs.with(.redis, on: workbench) {
            results.append(try comparators(workbench).redis(entries: entries))
        }
        try programs.with(.apscheduler, on: workbench) {
            results.append(try comparators(workbench).apscheduler(entries: apschedulerJobs))
        }
        return Report(benchmark: "timers", workloads: [workload(of: results)])
    }

    private func workload(of results: [TimersResult]) -> Workload {
        var workload = Workload(
            name: workloadName + Programs.build,
            figures: [Figure("entries", given: entries), Figure("partitions", given: partitions)],
            subjects: results.map(\.row)
        )
        let carillon = results.first { $0.name == "carillon" }
        let others: [(String, Ratio, Ratio)] = [
            ("redis", .insertsVersusRedis, .memoryVersusRedis),
            ("apscheduler", .insertsVersusAPScheduler, .memoryVersusAPScheduler),
            ("carillon-jemalloc", .insertsVersusJemalloc, .memoryVersusJemalloc),
        ]
        for (name, inserts, memory) in others {
            let other = results.first { $0.name == name }
            workload.ratios.set(inserts, carillon?.insertsPerSecond, over: other?.insertsPerSecond)
            workload.ratios.set(memory, carillon?.residentBytesPerPending, over: other?.residentBytesPerPending)
        }
        return workload
    }

    private func comparators(_ workbench: Workbench) throws -> TimerComparators {
        TimerComparators(python: try programs.pythonEnvironment(on: workbench), workbench: workbench)
    }
}

/// The measured figures of one program that keeps timers.
struct TimersResult: Sendable {
    var name: String
    var entries: Int
    var insertsPerSecond: Double
    /// Until everything was in the changelog and on disk; nil without a disk.
    var cpuSecondsPerMillion: Double?
    /// Beyond idle, including the allocator's remains of request buffers.
    var residentBytesPerPending: Double
    /// Beyond idle, of a process started with the entries on disk; nil without a disk.
    var restartedBytesPerPending: Double?
    /// Size of the closed files; nil without a disk.
    var diskBytesPerPending: Double?
    /// From the first readable record until everything was in the changelog and on disk, sampled every half a second.
    var secondsUntilWritten: Double?

    var row: FigureRow {
        func optional(_ name: String, _ title: String, _ value: Double?, as format: Figure.Format) -> [Figure] {
            value.map { [Figure(name, title, $0, as: format)] } ?? []
        }
        return FigureRow(
            name,
            [
                Figure("entries", "pending", Double(entries), as: .whole),
                Figure("inserts_per_second", "inserts/s", insertsPerSecond, as: .whole),
                Figure("resident_bytes_per_pending", "memory, bytes each", residentBytesPerPending, as: .whole),
            ]
                + optional("cpu_seconds_per_million", "CPU s/million", cpuSecondsPerMillion, as: .decimals)
                + optional(
                    "resident_bytes_per_pending_restarted",
                    "after a restart",
                    restartedBytesPerPending,
                    as: .whole
                )
                + optional("disk_bytes_per_pending", "disk, bytes each", diskBytesPerPending, as: .whole)
                + optional("seconds_until_written", "s until on disk", secondsUntilWritten, as: .decimals)
        )
    }
}

/// Fills the running service with requests due in weeks.
struct TimersBenchmark {
    var entries: Int
    var partitions: Int32
    var workbench: Workbench

    /// - Parameter allocator: An allocator to preload; nil for the build's own.
    /// - Throws: ``BenchmarkError`` when a request was not scheduled exactly once.
    func run(preloading allocator: String? = nil) throws -> TimersResult {
        try BenchmarkBroker.with(partitions: partitions, logger: workbench.logger) { broker in
            let service = try ScheduleService(of: broker, filling: entries, preloading: allocator, on: workbench)
            workbench.report("\(service.name): \(entries) pending over \(partitions) partitions")
            try service.awaitAssignment()
            let idle = try settledMemory(of: service)
            let idleCPU = try service.process.sample().cpuSeconds
            try service.fill(entries)
            let resumed = ContinuousClock.now
            try service.awaitQuiet(pending: entries)
            let (written, cpu) = (ContinuousClock.now, try service.process.sample().cpuSeconds - idleCPU)
            let resident = try settledMemory(of: service) - idle
            let seconds = try scheduling(on: broker)
            try service.end()
            let disk = try service.storeBytes()
            try service.start()
            try service.awaitAssignment()
            try service.awaitQuiet(pending: entries)
            let restarted = try settledMemory(of: service) - idle
            let count = Double(entries)
            return TimersResult(
                name: service.name,
                entries: entries,
                insertsPerSecond: count / seconds,
                cpuSecondsPerMillion: cpu / count * 1e6,
                residentBytesPerPending: Double(resident) / count,
                restartedBytesPerPending: Double(restarted) / count,
                diskBytesPerPending: Double(disk) / count,
                secondsUntilWritten: (written - resumed) / .seconds(1)
            )
        }
    }

    /// Resident bytes, once they are stable: an idle service releases the memory of a burst.
    private func settledMemory(of service: ScheduleService) throws -> Int {
        var (before, calm) = (0, 0)
        for _ in 0..<30 where calm < 6 {
            Thread.sleep(forTimeInterval: 1)
            let now = try service.process.sample().residentBytes
            calm = abs(now - before) < 1 << 20 ? calm + 1 : 0
            before = now
        }
        return before
    }

    /// - Returns: seconds from the first `scheduled` event to the last, by the clock of the service.
    private func scheduling(on broker: BenchmarkBroker) throws -> Double {
        var isScheduled = [Bool](repeating: false, count: entries)
        var (first, last) = (Int64.max, Int64.min)
        let scheduled = Array("\(DeliveryEventName.scheduled.type)".utf8)
        try TopicBounds(of: broker.topics.deliveries, on: broker).read { message in
            guard message.headerValue("ce_type") == scheduled,
                let index = ScheduleWorkload.index(of: message.key() ?? []), isScheduled.indices.contains(index),
                !isScheduled[index], let time = message.timestamp
            else { throw BenchmarkError("an event without a request, or a repeated one") }
            isScheduled[index] = true
            (first, last) = (min(first, time), max(last, time))
        }
        guard isScheduled.allSatisfy(\.self) else { throw BenchmarkError("some requests were not scheduled") }
        return max(Double(last - first), 1) / 1000
    }
}
