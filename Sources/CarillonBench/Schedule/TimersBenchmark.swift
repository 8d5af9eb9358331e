import Foundation
import Kafka
import LocalBroker
import Logging
import NotificationModel

/// Fills the running service with what is due in weeks.
struct TimersBenchmark {
    var entries: Int
    var workload: ScheduleWorkload
    /// An allocator to preload; nil for the C library's.
    var allocator: String?
    var logger: Logger
    var report: (String) -> Void

    /// - Throws: ``BenchmarkError`` when a request was not scheduled exactly once.
    func run() throws -> TimersReport.Subject {
        try LocalBroker.with(partitions: workload.partitions) { broker, topics in
            let service = try ScheduleService(workload, on: broker, topics, preloading: allocator, logger: logger)
            report("\(service.subject.name): \(entries) pending over \(workload.partitions) partitions")
            try service.awaitAssignment()
            let idle = try settledMemory(of: service)
            try service.fill(entries, topics)
            let resumed = SystemClock.now()
            try service.awaitQuiet(pending: entries)
            let written = SystemClock.now()
            let resident = try settledMemory(of: service) - idle
            let seconds = try scheduling(of: broker, topics)
            try service.end()
            let disk = try service.storeBytes()
            try service.start()
            try service.awaitAssignment()
            try service.awaitQuiet(pending: entries)
            let restarted = try settledMemory(of: service) - idle
            return TimersReport.Subject(
                name: service.subject.name,
                entries: entries,
                insertsPerSecond: Double(entries) / seconds,
                residentBytesPerPending: Double(resident) / Double(entries),
                restartedBytesPerPending: Double(restarted) / Double(entries),
                diskBytesPerPending: Double(disk) / Double(entries),
                secondsUntilWritten: Double(written.rawValue - resumed.rawValue) / 1000
            )
        }
    }

    /// Resident bytes, once they have not changed for a while: the service gives back what a burst needed when it rests.
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

    /// - Returns: seconds from the first `scheduled` event to the last, by the clock of the service as it handed them over.
    private func scheduling(of broker: LocalBroker, _ topics: TopicNames) throws -> Double {
        let ends = try TopicBounds(of: topics.deliveries, workload.partitions, on: broker, logger: logger)
        var isScheduled = [Bool](repeating: false, count: entries)
        var (first, last) = (Int64.max, Int64.min)
        let scheduled = Array("\(DeliveryEventName.scheduled.type)".utf8)
        try ends.read(from: ends.lows.map { _ in 0 }, on: broker, logger: logger) { message in
            guard message.headerValue("ce_type") == scheduled,
                let index = ScheduleWorkload.index(of: message.key() ?? []), isScheduled.indices.contains(index),
                !isScheduled[index], let time = message.timestamp
            else { throw BenchmarkError("an event that no request asked for, or asked for once") }
            isScheduled[index] = true
            (first, last) = (min(first, time), max(last, time))
        }
        guard isScheduled.allSatisfy(\.self) else { throw BenchmarkError("some requests were not scheduled") }
        return max(Double(last - first), 1) / 1000
    }
}
