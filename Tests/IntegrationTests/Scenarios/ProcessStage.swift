import Foundation
import TestSupport
import LocalBroker
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Instances as separate processes, on the embedded broker in this process or on the cluster of `KAFKA_BOOTSTRAP_SERVERS`.
/// Python clients publish the requests and read the events.
final class ProcessStage: Stage {
    /// Starts a broker again with its state.
    private static let restartCommand = ProcessInfo.processInfo.environment["KAFKA_RESTART_COMMAND"]

    /// Of the stage that this run would make.
    static var capabilities: Set<StageCapability> {
        guard Cluster.isReal else { return [.brokerRestart, .expiry] }
        var all: Set<StageCapability> = [.transactions, .compaction, .expiry]
        if restartCommand != nil { all.insert(.brokerRestart) }
        return all
    }

    /// Why it cannot do something.
    static func reason(against capability: StageCapability) -> String {
        switch capability {
        case .transactions: "the embedded broker isolates nothing"
        case .compaction: "the embedded broker never compacts"
        case .brokerRestart: "KAFKA_RESTART_COMMAND does not say how the cluster is restarted"
        case .expiry: "records cannot be deleted"
        }
    }

    var capabilities: Set<StageCapability> { Self.capabilities }

    private let cluster: Cluster
    private let output: ByteTopics
    private let clients: RequestClients
    private let instances = Mutex<[String: ServiceProcess]>([:])
    private let disks: TemporaryFolder

    init() async throws {
        cluster =
            Cluster.isReal
            // So small that a scenario lives to see compaction.
            ? try await Cluster.start(["segment.ms=1000", "min.cleanable.dirty.ratio=0.01"])
            : try Cluster.inProcess()
        disks = try TemporaryFolder()
        clients = RequestClients(cluster)
        output = try ByteTopics(cluster, "deliveries", "state")
    }

    func end() async throws {
        let children = instances.withLock { $0.values.map(\.child) }
        await withTaskGroup(of: Void.self) { group in
            for child in children + [output.process] { group.addTask { await child.end() } }
            group.addTask { [clients] in await clients.end() }
        }
        try await cluster.stop()
    }

    private func operate(_ arguments: String...) async throws {
        var arguments = arguments
        arguments.insert(cluster.bootstrapServers, at: 1)
        _ = try await ChildProcess.run(try Tools.python(), [Tools.client("cluster.py")] + arguments)
    }

    /// Of all instances, for messages.
    private var lastWords: String {
        instances.withLock { $0.values.map(\.child.lastWords) }.joined(separator: "\n")
    }

    // MARK: - Instances

    private func service(_ instance: String) throws -> ServiceProcess {
        guard let service = instances.withLock({ $0[instance] }) else {
            throw ChildProcess.Failure(description: "instance \(instance) was not started")
        }
        return service
    }

    func start(_ instance: String, _ options: InstanceOptions) async throws {
        var settings = ServiceProcess.settings(cluster, deployment: "scenario")
        settings["CARILLON_INSTANCE_ID"] = instance
        if options.hasStore { settings["CARILLON_STORE_DIRECTORY"] = disks.file(instance) }
        if options.continuesOverGap { settings["CARILLON_CONSUMER_ON_GAP"] = "continue" }
        let service = try ServiceProcess.consumer(settings, deployment: cluster.prefix)
        instances.withLock { $0[instance] = service }
    }

    func ready(_ instance: String) async throws { try await service(instance).ready() }

    func kill(_ instance: String) async throws {
        let child = try service(instance).child
        child.signal(SIGKILL)
        _ = try await child.ended()
        instances.withLock { $0[instance] = nil }
    }

    func freeze(_ instance: String) async throws { try service(instance).child.signal(SIGSTOP) }

    func thaw(_ instance: String) async throws { try service(instance).child.signal(SIGCONT) }

    func stop(_ instance: String) async throws {
        let child = try service(instance).child
        child.signal(SIGTERM)
        let status = try await child.ended()
        guard status == 0 else { throw ChildProcess.Failure(description: "status \(status)\n\(child.lastWords)") }
        instances.withLock { $0[instance] = nil }
    }

    func refusal(of instance: String) async throws -> StageRefusal {
        let child = try service(instance).child
        let status = try await child.ended()
        instances.withLock { $0[instance] = nil }
        return StageRefusal(status: status, log: child.errorText)
    }

    func report(of instance: String) async throws -> InstanceReport {
        let page = try await service(instance).metrics
        var report = InstanceReport(pending: -1, partitions: -1, read: [])
        for line in page.split(separator: "\n") where !line.hasPrefix("#") {
            guard let space = line.lastIndex(of: " "), let value = Double(line[space...].dropFirst()) else { continue }
            let name = line[..<space]
            if name == "carillon_schedule_pending" { report.pending = Int(value) }
            if name == "carillon_assigned_partitions" { report.partitions = Int(value) }
            if name.hasPrefix("carillon_consumer_lag_records{"),
                let number = name.split(separator: "partition=\"").last?.prefix(while: \.isNumber)
            {
                report.read.formUnion(Int(number).map { [$0] } ?? [])
            }
        }
        return report
    }

    // MARK: - Records

    func publish(_ requests: RequestBatch) async throws { try await clients.publish(requests) }
    func beginLoad() async throws { try clients.beginLoad() }
    func load(reaches more: Int) async throws { try await clients.load(reaches: more) }
    func endLoad() async throws { try await clients.endLoad() }

    func account(open: Int?) async throws -> Account {
        do {
            return try await clients.account(open: open)
        } catch {
            throw ChildProcess.Failure(description: "\(error)\n\(lastWords)")
        }
    }

    func deliveries() async throws -> [StageEvent] {
        output.records.filter { $0.topic == cluster.topic("deliveries") }.map { record in
            let value = record.value ?? Data()
            let type = record.text("ce_type") ?? ""
            return StageEvent(
                id: record.text("ce_id") ?? "",
                name: type.split(separator: ".").dropFirst(2).dropLast().joined(separator: "."),
                requestID: JSONText.member("requestId", of: value) ?? "",
                identifier: JSONText.member("identifier", of: value) ?? ""
            )
        }
    }

    func state() async throws -> [StageRecord] {
        output.records.filter { $0.topic == cluster.topic("state") }.map { record in
            StageRecord(
                partition: record.partition,
                key: String(decoding: record.key ?? Data(), as: UTF8.self),
                value: record.value.map { String(decoding: $0, as: UTF8.self) }
            )
        }
    }

    // MARK: - Time, and Kafka

    func until(_ what: String, _ condition: @Sendable () async throws -> Bool) async throws {
        try await eventually(what, orSay: { lastWords }, condition)
    }

    func pass(_ time: Duration) async throws { try await Task.sleep(for: time) }

    func restartBroker() async throws {
        if let local = cluster.local {
            try local.setBroker(isUp: false)
            try await pass(.seconds(2))
            try local.setBroker(isUp: true)
        } else if let command = Self.restartCommand {
            _ = try await ChildProcess.run("/bin/sh", ["-c", command])
        }
    }

    func compact() async throws {
        for topic in ["requests", "state"] { try await operate("compact", cluster.topic(topic)) }
    }

    func expireRequests(ofRecipient number: Int) async throws {
        guard cluster.local != nil else {
            return try await operate("expire", cluster.topic("requests"), "\(RequestClients.recipients)-\(number)")
        }
        // The embedded broker keeps 5 MiB per partition: newer records displace older ones.
        try await clients.overflow()
    }
}
