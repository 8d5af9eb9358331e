import Foundation
import LocalBroker
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Instances as processes of their own, on the embedded broker in this process or on the cluster of `KAFKA_BOOTSTRAP_SERVERS`;
/// what goes in and comes out is the affair of Python clients.
final class ProcessStage: Stage {
    /// What begins a broker again whose state is kept.
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

    private struct Contents {
        var instances: [String: ServiceProcess] = [:]
        var batches: [String] = []
        var load: ChildProcess?
    }

    private let cluster: Cluster
    private let output: ByteTopics
    private let contents = Mutex(Contents())
    private let disks: TemporaryFolder
    /// What the names of the recipients begin with.
    private let recipients = "scenario"

    init() async throws {
        cluster = Cluster.isReal ? try await Cluster.start() : try Cluster.inProcess()
        disks = try TemporaryFolder()
        output = try ByteTopics(cluster, "deliveries", "state")
        if Cluster.isReal {
            // So small that a scenario lives to see compaction.
            for topic in ["requests", "state"] {
                try await operate(
                    "configure",
                    cluster.topic(topic),
                    topic == "state" ? "cleanup.policy=compact" : "cleanup.policy=compact,delete",
                    "segment.ms=1000",
                    "min.cleanable.dirty.ratio=0.01"
                )
            }
        }
    }

    func end() async throws {
        let (instances, load) = contents.withLock { ($0.instances.values.map(\.child), $0.load) }
        await withTaskGroup(of: Void.self) { group in
            for child in instances + [output.process] + (load.map { [$0] } ?? []) {
                group.addTask { await child.end() }
            }
        }
        try await cluster.stop()
    }

    private func operate(_ arguments: String...) async throws {
        var arguments = arguments
        arguments.insert(cluster.bootstrapServers, at: 1)
        _ = try await ChildProcess.run(try Tools.python(), [Tools.client("cluster.py")] + arguments)
    }

    // MARK: - Instances

    private func service(_ instance: String) throws -> ServiceProcess {
        guard let service = contents.withLock({ $0.instances[instance] }) else {
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
        contents.withLock { $0.instances[instance] = service }
    }

    func ready(_ instance: String) async throws { try await service(instance).ready() }

    func kill(_ instance: String) async throws {
        let child = try service(instance).child
        child.signal(SIGKILL)
        _ = try await child.ended()
        contents.withLock { $0.instances[instance] = nil }
    }

    func freeze(_ instance: String) async throws { try service(instance).child.signal(SIGSTOP) }

    func thaw(_ instance: String) async throws { try service(instance).child.signal(SIGCONT) }

    func stop(_ instance: String) async throws {
        let child = try service(instance).child
        child.signal(SIGTERM)
        let status = try await child.ended()
        guard status == 0 else { throw ChildProcess.Failure(description: "status \(status)\n\(child.lastWords)") }
        contents.withLock { $0.instances[instance] = nil }
    }

    func refusal(of instance: String) async throws -> StageRefusal {
        let child = try service(instance).child
        let status = try await child.ended()
        contents.withLock { $0.instances[instance] = nil }
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

    private func publisher(_ name: String, _ arguments: [String]) throws -> ChildProcess {
        try ChildProcess(
            try Tools.python(),
            [
                Tools.client("requests.py"), "--bootstrap", cluster.bootstrapServers, "--topic",
                cluster.topic("requests"), "--recipients", recipients, "--name", name,
            ] + arguments
        )
    }

    private func accepted(_ publisher: ChildProcess) async throws -> [String] {
        guard try await publisher.ended() == 0, let line = publisher.outputLines.last,
            let ids = JSONText.object(Data(line.utf8))?["requests"] as? [String]
        else { throw ChildProcess.Failure(description: publisher.lastWords) }
        contents.withLock { $0.batches += ids }
        return ids
    }

    func publish(_ requests: RequestBatch) async throws {
        var arguments = ["--count", "\(requests.count)", "--spread", "\(requests.recipients)"]
        if let due = requests.due { arguments += ["--interval", "\(due.components.seconds)"] }
        let ids = try await accepted(try publisher(requests.name, arguments))
        guard ids.count == requests.count else {
            throw ChildProcess.Failure(description: "\(ids.count) of \(requests.count) were acknowledged")
        }
    }

    func beginLoad() async throws {
        let load = try publisher("load", ["--spread", "64", "--pause", "0.005"])
        contents.withLock { $0.load = load }
    }

    func load(reaches more: Int) async throws {
        guard let load = contents.withLock({ $0.load }) else { return }
        func reached() -> Int {
            load.outputLines.last.flatMap { JSONText.object(Data($0.utf8))?["accepted"] as? Int } ?? 0
        }
        let start = reached()
        try await eventually("\(more) more requests are accepted", orSay: { load.lastWords }) {
            guard load.isRunning else { throw ChildProcess.Failure(description: load.lastWords) }
            return reached() >= start + more
        }
    }

    func endLoad() async throws {
        guard let load = contents.withLock({ $0.load }) else { return }
        load.signal(SIGTERM)
        _ = try await accepted(load)
        contents.withLock { $0.load = nil }
    }

    func account(open: Int) async throws -> Account {
        let ids = contents.withLock { $0.batches }
        let settled = try ChildProcess(
            try Tools.python(),
            [
                Tools.client("settle.py"), "--bootstrap", cluster.bootstrapServers, "--prefix", cluster.prefix,
                "--recipients", recipients, "--open", "\(open)",
            ],
            input: Data(JSONLine.text(["requests": ids, "events": []]).utf8)
        )
        let status = try await settled.ended(within: .seconds(180))
        guard status == 0, let numbers = JSONText.object(settled.standardOutput) else {
            let services = contents.withLock { $0.instances.values.map(\.child.lastWords) }
            throw ChildProcess.Failure(
                description: "\(settled.outputText)\(settled.errorText)\n\(services.joined(separator: "\n"))"
            )
        }
        func number(_ name: String) -> Int { numbers[name] as? Int ?? -1 }
        return Account(
            requests: number("requests"),
            closed: number("closed"),
            open: number("open"),
            repeats: number("repeatedIds")
        )
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
        try await eventually(
            what,
            orSay: { contents.withLock { $0.instances.values.map(\.child.lastWords) }.joined(separator: "\n") },
            condition
        )
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
            return try await operate("expire", cluster.topic("requests"), "\(recipients)-\(number)")
        }
        // The embedded broker keeps 5 MiB of a partition: what is newer pushes out what is older.
        let filler = try ChildProcess(
            try Tools.python(),
            [
                Tools.client("requests.py"), "--bootstrap", cluster.bootstrapServers, "--topic",
                cluster.topic("requests"), "--recipients", recipients, "--name", "filler", "--count", "60", "--spread",
                "1", "--padding", "200000",
            ]
        )
        guard try await filler.ended() == 0 else { throw ChildProcess.Failure(description: filler.lastWords) }
    }
}
