import Foundation
import NotificationModel

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The consumer service with its store on disk, in its own process that can be stopped and restarted.
final class ScheduleService {
    /// Read-ahead stays at librdkafka's default: with less it pauses for a second whenever it has enough.
    private let properties: [String: String]
    /// 10,000,000 entries over 640 partitions take more than ten minutes.
    private static let patience = Duration.seconds(1_800)

    private let subject: Subject
    private let broker: BenchmarkBroker
    private let workbench: Workbench
    private let store: URL
    private let metricsPort: Int
    private(set) var process: SubjectProcess
    private var starts = 1

    var name: String { subject.name }

    /// Starts it with an empty store.
    ///
    /// - Parameters:
    ///   - entries: at most so many for ``fill(_:)``.
    ///   - lanes: nil for the default number.
    ///   - library: another allocator.
    ///   - variables: further settings, as environment variables.
    init(
        of broker: BenchmarkBroker,
        filling entries: Int = 0,
        lanes: Int? = nil,
        preloading library: String? = nil,
        adding variables: [String: String] = [:],
        on workbench: Workbench
    ) throws {
        (self.broker, self.workbench) = (broker, workbench)
        properties = [
            "compression.type": "lz4", "fetch.wait.max.ms": "10",
            // Many partitions, with few records at a time for each.
            "linger.ms": "50",
        ].merging(SubjectProcess.properties(pausedFor: entries)) { $1 }
        let (store, port) = (workbench.place("store"), try FreePort.find())
        (self.store, metricsPort) = (store, port)
        var subject = try Subject.carillon()
        if let library { subject = subject.preloading(library) }
        let environment = subject.environment
        subject.environment = { work in
            var settings = environment(work)
            settings["CARILLON_CONSUMER_LANES"] = lanes.map { "\($0)" }
            return settings.merging(["CARILLON_STORE_DIRECTORY": store.path, "CARILLON_OPS_PORT": "\(port)"]) { $1 }
                .merging(variables) { $1 }
        }
        self.subject = subject
        process = try subject.start(broker.work(properties: properties), on: workbench)
    }

    deinit {
        process.stop()
        deleteStore()
    }

    // MARK: - Start and stop

    /// Restarts it in a new group, because the embedded broker makes a second member of a group wait for the session
    /// timeout. Its position is in the markers, not in the group.
    func start() throws {
        starts += 1
        let group = "carillon-bench-\(starts)"
        process = try subject.adding { _ in ["CARILLON_CONSUMER_GROUP": group] }
            .start(broker.work(properties: properties), on: workbench)
    }

    func end() throws { try process.end(within: .seconds(60)) }

    func deleteStore() { try? FileManager.default.removeItem(at: store) }

    func storeBytes() throws -> Int { try Workbench.bytes(ofFilesIn: store.path) }

    // MARK: - Its metrics

    func metrics() throws -> ServiceMetrics { try ServiceMetrics(port: metricsPort) }

    /// Waits until it has restored and processes all partitions.
    func awaitAssignment() throws {
        let count = Double(broker.partitions)
        try wait("assigned") { $0["carillon_assigned_partitions"] == count }
    }

    /// Waits for the same, and measures it.
    ///
    /// - Parameter start: when the process was started.
    /// - Returns: seconds since then.
    func secondsToReady(since start: ContinuousClock.Instant) throws -> Double {
        let deadline = start.advanced(by: Self.patience)
        while true {
            _ = try process.sample()
            let assigned = isReady ? (try? metrics())?["carillon_assigned_partitions"] : nil
            let now = ContinuousClock.now
            if assigned == Double(broker.partitions) { return (now - start) / .seconds(1) }
            guard now < deadline else { throw BenchmarkError("the service was not ready within \(Self.patience)") }
            Thread.sleep(forTimeInterval: 0.02)
        }
    }

    /// Whether it says that it can work. The page of metrics, asked as often, costs 8 % of what is measured.
    private var isReady: Bool {
        guard let url = URL(string: "http://127.0.0.1:\(metricsPort)/health/ready") else { return false }
        // There is no answer until it listens, and the status 503 is an error.
        return (try? Data(contentsOf: url)) != nil
    }

    /// Waits until this number is pending, and everything is in the changelog and on disk.
    func awaitQuiet(pending: Int) throws {
        try wait("quiet with \(pending) pending") { metrics in
            metrics["carillon_schedule_pending"] == Double(pending) && metrics["carillon_store_unwritten_changes"] == 0
                && metrics["carillon_outstanding_records"] == 0
        }
    }

    /// Waits until it has kept so many records of recipients and tokens.
    func awaitRecipients(_ count: Int) throws {
        try wait("having \(count) recipients and tokens") { metrics in
            metrics["carillon_center_recipients"] == Double(count) && metrics["carillon_store_unwritten_changes"] == 0
                && metrics["carillon_outstanding_records"] == 0
        }
    }

    private func wait(_ what: String, until isSo: (ServiceMetrics) -> Bool) throws {
        try ServiceMetrics.wait(for: what, of: process, port: metricsPort, within: Self.patience, until: isSo)
    }

    // MARK: - Work

    /// Publishes requests due in weeks while it is paused, and then lets it process them with all cores.
    func fill(_ entries: Int) throws {
        process.pause()
        defer { process.resume() }
        try ScheduleWorkload.publish(
            0..<entries,
            to: broker,
            at: SystemClock.now(),
            interval: ScheduleWorkload.farAway
        )
        try TopicBounds(of: broker.topics.requests, on: broker).requireAll()
    }
}
