/// The environment of a scenario: a Kafka cluster, and instances of the consumer service that can be ended in any way.
///
/// A stage controls its time: a scenario waits only with `until` and `pass`.
protocol Stage: Sendable {
    /// Its optional features.
    var capabilities: Set<StageCapability> { get }

    // MARK: Instances

    /// Starts an instance, under a name that no other running one has.
    func start(_ instance: String, _ options: InstanceOptions) async throws
    /// Waits until it owns partitions, and has restored them.
    func ready(_ instance: String) async throws
    /// Ends it immediately, like `kill -9` or a power cut.
    func kill(_ instance: String) async throws
    /// Pauses it, and lets it continue.
    func freeze(_ instance: String) async throws
    func thaw(_ instance: String) async throws
    /// Shuts it down, and waits for its end.
    func stop(_ instance: String) async throws
    /// Waits until it has refused to run and ended, and returns its text.
    func refusal(of instance: String) async throws -> StageRefusal
    /// Its own report.
    func report(of instance: String) async throws -> InstanceReport

    // MARK: Records

    /// Publishes requests, and waits until all are acknowledged.
    func publish(_ requests: RequestBatch) async throws
    /// Publishes one immediate request after the other until `endLoad`.
    func beginLoad() async throws
    /// Waits until the load has had so many more acknowledged.
    func load(reaches more: Int) async throws
    func endLoad() async throws
    /// - Throws: what is missing, what came too early, what closed twice under different ids.
    /// - Throws: missing events, early events, and requests closed twice with different ids.
    ///
    /// - Throws: missing events, early events, and requests closed twice with different ids.
    func account(open: Int?) async throws -> Account
    /// Every event by now, as committed.
    func deliveries() async throws -> [StageEvent]
    /// Every record of `state` by now, as committed, in the order of each partition.
    func state() async throws -> [StageRecord]

    // MARK: Time, and Kafka

    func until(_ what: String, _ condition: @Sendable () async throws -> Bool) async throws
    func pass(_ time: Duration) async throws
    /// `.brokerRestart`
    func restartBroker() async throws
    /// `.compaction`: of `requests` and of `state`, until both have fewer records.
    func compact() async throws
    /// `.expiry`: deletes the requests in the partition of the recipient with that number, also unread ones.
    func expireRequests(ofRecipient number: Int) async throws

    /// Ends everything.
    func end() async throws
}

/// A feature that not every stage has.
enum StageCapability: String, Sendable, CaseIterable {
    case transactions, compaction, brokerRestart, expiry
}

/// How an instance is started.
struct InstanceOptions: Sendable {
    /// Whether it has its own disk, which outlives it.
    var hasStore = false
    /// Whether it continues when unread requests were deleted.
    var continuesOverGap = false
}

/// Requests that are published together.
struct RequestBatch: Sendable {
    /// The prefix of the identifiers, unique to the batch.
    var name: String
    var count: Int
    /// Until each is due; nil for now.
    var due: Duration?
    /// Over how many recipients, of which the first has number 0.
    var recipients = 64
}

/// The counts of requests and events.
struct Account: Sendable, CustomStringConvertible {
    /// Requests that were acknowledged, each once.
    var requests: Int
    var closed: Int
    /// Scheduled, not closed.
    var open: Int
    /// The number of events with the `ce_id` of an earlier one.
    var repeats: Int

    var description: String { "\(requests) requests: \(closed) closed, \(open) open; \(repeats) repeats" }
}

/// An instance that refused to run and ended.
struct StageRefusal: Sendable {
    var status: Int32
    /// Its log.
    var log: String
}

/// The report of an instance.
struct InstanceReport: Sendable {
    /// Notifications scheduled or held back.
    var pending: Int
    /// How many partitions it owns.
    var partitions: Int
    /// Those of them that it has read from.
    var read: Set<Int>
}

/// An event on `deliveries`.
struct StageEvent: Sendable {
    /// `ce_id`.
    var id: String
    /// `delivered` of `carillon.notification.delivered.v1`.
    var name: String
    var requestID: String
    var identifier: String
}

/// A record of `state`.
struct StageRecord: Sendable {
    var partition: Int
    var key: String
    /// nil for a tombstone.
    var value: String?
}

extension [StageRecord] {
    /// The last record of each key, tombstones left out, as a restore would find them.
    var latest: [StageRecord] {
        var last: [String: StageRecord] = [:]
        for record in self { last["\(record.partition)/\(record.key)"] = record }
        return last.values.filter { $0.value != nil }
    }

    /// How many entries wait for their time.
    var pending: Int { latest.count { $0.value?.contains("\"pending\":{") == true } }

    /// The partitions that have a marker.
    var marked: Set<Int> { Set(latest.filter { $0.key == "marker" }.map(\.partition)) }
}
