import Foundation
import LocalBroker
import Logging
import NotificationModel

/// The consumer service with its store on disk, as a process of its own that can end well and start again.
final class ScheduleService {
    /// What is read ahead stays at librdkafka's default: with less it stands still for a second whenever it has enough.
    private static let properties = [
        "compression.type": "lz4", "fetch.wait.max.ms": "10",
        // Many partitions, and little for each at a time.
        "linger.ms": "50",
        // Longer than the requests take to be published, while it stands still.
        "session.timeout.ms": "120000", "socket.timeout.ms": "300000",
    ]
    private static let patience = Duration.seconds(600)

    let subject: Subject
    private let work: Subject.Work
    private let workload: ScheduleWorkload
    private let broker: LocalBroker
    private let logger: Logger
    private let store: URL
    private let metricsPort: Int
    private(set) var process: SubjectProcess
    private var starts = 1

    /// Starts it with an empty store.
    ///
    /// - Parameters:
    ///   - lanes: nil for as many as it has by default.
    ///   - library: another allocator.
    init(
        _ workload: ScheduleWorkload,
        on broker: LocalBroker,
        _ topics: TopicNames,
        lanes: Int? = nil,
        preloading library: String? = nil,
        logger: Logger
    ) throws {
        self.workload = workload
        self.broker = broker
        self.logger = logger
        let place = FileManager.default.temporaryDirectory.appendingPathComponent("carillon-bench-\(UUID().uuidString)")
        let port = try FreePort.find()
        (store, metricsPort) = (place, port)
        var subject = try Subject.carillon()
        if let library { subject = subject.preloading(library) }
        let environment = subject.environment
        subject.environment = { work in
            var settings = environment(work)
            settings["CARILLON_CONSUMER_LANES"] = lanes.map { "\($0)" }
            return settings.merging(["CARILLON_STORE_DIRECTORY": place.path, "CARILLON_OPS_PORT": "\(port)"]) { $1 }
        }
        self.subject = subject
        work = Subject.Work(
            bootstrapServers: broker.bootstrapServers.joined(separator: ","),
            topics: topics,
            partitions: workload.partitions,
            records: 0,
            properties: Self.properties
        )
        process = try subject.start(work)
    }

    deinit {
        process.stop()
        deleteStore()
    }

    // MARK: - Its life

    /// Starts it again. It joins a group of its own, since the embedded broker lets a second member of one wait for the session
    /// timeout; where to go on is in its markers, not in the group.
    func start() throws {
        starts += 1
        var again = subject
        let (environment, group) = (subject.environment, "carillon-bench-\(starts)")
        again.environment = { environment($0).merging(["CARILLON_CONSUMER_GROUP": group]) { $1 } }
        process = try again.start(work)
    }

    func end() throws { try process.end(within: .seconds(60)) }

    func deleteStore() { try? FileManager.default.removeItem(at: store) }

    /// Of all files of the store.
    func storeBytes() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: store.path).reduce(0) { sum, name in
            let attributes = try FileManager.default.attributesOfItem(atPath: store.appendingPathComponent(name).path)
            return sum + (attributes[.size] as? Int ?? 0)
        }
    }

    // MARK: - What it says

    func metrics() throws -> ServiceMetrics { try ServiceMetrics(port: metricsPort) }

    /// Waits until it has restored all partitions and works on them.
    func awaitAssignment() throws {
        let count = Double(workload.partitions)
        try wait("assigned") { $0["carillon_assigned_partitions"] == count }
    }

    /// Waits until as many are pending, and all of it is in the changelog and on disk.
    func awaitQuiet(pending: Int) throws {
        try wait("quiet with \(pending) pending") { metrics in
            metrics["carillon_schedule_pending"] == Double(pending) && metrics["carillon_store_unwritten_changes"] == 0
                && metrics["carillon_outstanding_records"] == 0
        }
    }

    private func wait(_ what: String, until isSo: (ServiceMetrics) -> Bool) throws {
        let deadline = ContinuousClock.now.advanced(by: Self.patience)
        // What it says is half a second old at most: twice, so that nothing is under way in between.
        var seen = 0
        while seen < 2 {
            _ = try process.sample()
            // Until it listens nobody answers.
            let metrics = try? metrics()
            seen = metrics.map(isSo) == true ? seen + 1 : 0
            guard ContinuousClock.now < deadline else {
                throw BenchmarkError("the service was not \(what) within \(Self.patience): \(metrics?.summary ?? "")")
            }
            Thread.sleep(forTimeInterval: seen == 1 ? 0.6 : 0.1)
        }
    }

    // MARK: - Its work

    /// Publishes requests that are due in weeks while it stands still, and lets it work them off with both cores.
    func fill(_ entries: Int, _ topics: TopicNames) throws {
        process.pause()
        defer { process.resume() }
        try workload.publish(
            0..<entries,
            to: topics.requests,
            of: broker,
            at: SystemClock.now(),
            logger: logger,
            interval: ScheduleWorkload.farAway
        )
        let bounds = try TopicBounds(of: topics.requests, workload.partitions, on: broker, logger: logger)
        guard bounds.lost == 0 else {
            throw BenchmarkError("the embedded broker threw \(bounds.lost) requests away: use more partitions")
        }
    }
}
