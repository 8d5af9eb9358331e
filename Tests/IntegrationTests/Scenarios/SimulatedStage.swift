import CarillonSimulation
import Foundation

/// Instances as lanes with a simulated cluster and simulated time, all in one task: the seed decides the order of concurrent
/// events. Besides the checks of the scenario, all rules of the simulation are checked.
actor SimulatedStage: Stage {
    /// How a scenario is played.
    struct Setting: Sendable, CustomStringConvertible {
        var seed: UInt64
        var isExactlyOnce = true
        /// A fault that the scenario should find.
        var bug: PlantedBug?

        var description: String {
            "\(isExactlyOnce ? "exactly-once" : "at-least-once"), seed \(seed)" + (bug.map { ", \($0.rawValue)" } ?? "")
        }
    }

    /// The longest wait of a scenario, in simulated time.
    private static let patience = Duration.seconds(300)

    nonisolated let capabilities: Set<StageCapability>
    private let run: ScriptedRun
    private var position = ScriptedRun.Position()
    private var ledger = EventLedger()

    init(_ setting: Setting) throws {
        capabilities = setting.isExactlyOnce ? Set(StageCapability.allCases) : [.compaction, .brokerRestart, .expiry]
        run = try ScriptedRun(
            .init(
                seed: setting.seed,
                partitions: Int32(Scenario.partitions),
                isExactlyOnce: setting.isExactlyOnce,
                bug: setting.bug
            )
        )
    }

    func end() async throws { run.end() }

    // MARK: - Instances

    func start(_ instance: String, _ options: InstanceOptions) async throws {
        try run.start(instance, hasStore: options.hasStore, continuesOverGap: options.continuesOverGap)
    }

    func ready(_ instance: String) async throws {
        try await until("\(instance) is ready") { try await self.isReady(instance) }
    }

    private func isReady(_ instance: String) throws -> Bool { try run.isReady(instance) }

    func kill(_ instance: String) async throws { try run.kill(instance) }
    func freeze(_ instance: String) async throws { try run.freeze(instance) }
    func thaw(_ instance: String) async throws { try run.thaw(instance) }
    func stop(_ instance: String) async throws { try run.stop(instance) }

    func refusal(of instance: String) async throws -> StageRefusal {
        // The status of the service's process when its run throws.
        StageRefusal(status: 1, log: try run.refusal(of: instance))
    }

    func report(of instance: String) async throws -> InstanceReport {
        let (pending, partitions, read) = try run.report(of: instance)
        return InstanceReport(pending: pending, partitions: partitions, read: read)
    }

    // MARK: - Records

    func publish(_ requests: RequestBatch) async throws {
        try run.publish(requests.name, count: requests.count, due: requests.due, recipients: requests.recipients)
    }

    func beginLoad() async throws { try run.beginLoad() }
    func load(reaches more: Int) async throws { try run.load(reaches: more) }
    func endLoad() async throws { try run.endLoad() }

    func account(open: Int?) async throws -> Account {
        let deadline = run.now + Self.patience
        while true {
            // Something more may be on its way.
            try run.proceed(for: .milliseconds(500))
            follow()
            let differences = ledger.differences(from: run.acknowledged, open: open)
            if differences.isEmpty {
                try run.checkCounting()
                return ledger.account
            }
            guard run.now < deadline else { throw run.failure(differences.joined(separator: "\n")) }
        }
    }

    private func follow() {
        for record in run.read(.deliveries, from: &position) { ledger.add(record) }
    }

    func deliveries() async throws -> [StageEvent] {
        follow()
        return ledger.events
    }

    func state() async throws -> [StageRecord] {
        var beginning = ScriptedRun.Position()
        return run.read(.state, from: &beginning).map { record in
            StageRecord(
                partition: record.partition,
                key: String(decoding: record.key, as: UTF8.self),
                value: record.value.map { String(decoding: $0, as: UTF8.self) }
            )
        }
    }

    // MARK: - Time, and Kafka

    func until(_ what: String, _ condition: @Sendable () async throws -> Bool) async throws {
        let deadline = run.now + Self.patience
        while try await !condition() {
            guard run.now < deadline else { throw run.failure("not within \(Self.patience): \(what)") }
            try run.proceed(for: .milliseconds(50))
        }
    }

    func pass(_ time: Duration) async throws { try run.proceed(for: time) }
    func restartBroker() async throws { try run.restartBroker() }
    func compact() async throws { try run.compact() }
    func expireRequests(ofRecipient number: Int) async throws { try run.expireRequests(ofRecipient: number) }
}

/// The events read so far, and the state of each request: compared in the same way as by the clients of real clusters.
private struct EventLedger {
    private(set) var events: [StageEvent] = []
    private var scheduled: Set<String> = []
    /// By request: the `ce_id` of its closing event.
    private var closed: [String: Set<String>] = [:]
    private var ids: Set<String> = []
    private var early: [String] = []
    /// Requests in all, as last compared.
    private var requests = 0

    mutating func add(_ record: ScriptedRun.CommittedRecord) {
        func header(_ name: String) -> String { String(decoding: record.headers[name] ?? [], as: UTF8.self) }
        let value = JSONText.object(Data(record.value ?? [])) ?? [:]
        let event = StageEvent(
            id: header("ce_id"),
            name: header("ce_type").split(separator: ".").dropFirst(2).dropLast().joined(separator: "."),
            requestID: value["requestId"] as? String ?? "",
            identifier: value["identifier"] as? String ?? ""
        )
        events.append(event)
        ids.insert(event.id)
        if event.name == "scheduled" { scheduled.insert(event.requestID) }
        if value["closes"] as? Bool == true { closed[event.requestID, default: []].insert(event.id) }
        // Both are RFC 3339 in UTC with milliseconds: they compare as text.
        if event.name == "delivered", header("ce_time") < value["occurrence"] as? String ?? "" {
            early.append(event.requestID)
        }
    }

    private var open: Set<String> { scheduled.subtracting(closed.keys) }

    var account: Account {
        Account(requests: requests, closed: closed.count, open: open.count, repeats: events.count - ids.count)
    }

    /// The errors; empty if there are none.
    mutating func differences(from acknowledged: [String], open expected: Int?) -> [String] {
        let accepted = Set(acknowledged)
        requests = accepted.count
        let known = scheduled.union(closed.keys)
        var found = [
            "requests without an event": accepted.subtracting(known),
            "events of no request": known.subtracting(accepted),
            "delivered before their time": Set(early),
            "closed under several ids": Set(closed.filter { $0.value.count > 1 }.keys),
        ]
        if let expected, open.count != expected {
            found["open, where \(expected) are expected"] = open.union(["\(open.count)"])
        }
        return found.filter { !$0.value.isEmpty }
            .map { "\($0.key): \($0.value.count), such as \($0.value.sorted().prefix(5))" }.sorted()
    }
}
