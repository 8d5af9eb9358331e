/// Where a scenario is played: a Kafka, and instances of the consumer service that can be ended in every way.
///
/// What it does to time is its own affair: a scenario waits only by `until` and `pass`.
protocol Stage: Sendable {
    /// What it can do beyond what each stage must.
    var capabilities: Set<StageCapability> { get }

    // MARK: Instances

    /// Starts an instance, under a name that no other running one has.
    func start(_ instance: String, _ options: InstanceOptions) async throws
    /// Waits until it owns partitions, and has restored them.
    func ready(_ instance: String) async throws
    /// Ends it at once, as `kill -9` or a power cut does.
    func kill(_ instance: String) async throws
    /// Lets it stand still, and go on.
    func freeze(_ instance: String) async throws
    func thaw(_ instance: String) async throws
    /// Asks it to end, and waits until it has.
    func stop(_ instance: String) async throws
    /// Waits until it has ended by itself, and gives what it said.
    func refusal(of instance: String) async throws -> StageRefusal
    /// What it says of itself.
    func report(of instance: String) async throws -> InstanceReport

    // MARK: Records

    /// Publishes requests, and waits until all are acknowledged.
    func publish(_ requests: RequestBatch) async throws
    /// Publishes one immediate request after the other until `endLoad`.
    func beginLoad() async throws
    /// Waits until the load has had so many more acknowledged.
    func load(reaches more: Int) async throws
    func endLoad() async throws
    /// Waits until every request that was acknowledged has its event, and exactly so many of them (any number for nil) are still
    /// open; compares as sets of ids what went in with what a `read_committed` reader sees come out.
    ///
    /// - Throws: what is missing, what came too early, what closed twice under different ids.
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
    /// `.expiry`: the requests in the partition of the recipient with that number are gone, those that nobody read included.
    func expireRequests(ofRecipient number: Int) async throws

    /// Ends everything.
    func end() async throws
}

/// What not every stage can do.
enum StageCapability: String, Sendable, CaseIterable {
    case transactions, compaction, brokerRestart, expiry
}

/// How an instance is started.
struct InstanceOptions: Sendable {
    /// Whether it has a disk of its own, which outlives it.
    var hasStore = false
    /// Whether it goes on when requests are gone.
    var continuesOverGap = false
}

/// Requests that are published together.
struct RequestBatch: Sendable {
    /// What the identifiers begin with; a batch has a name of its own.
    var name: String
    var count: Int
    /// Until each is due; nil for now.
    var due: Duration?
    /// Over how many recipients, of which the first has number 0.
    var recipients = 64
}

/// What went in and came out.
struct Account: Sendable, CustomStringConvertible {
    /// Requests that were acknowledged, each once.
    var requests: Int
    var closed: Int
    /// Scheduled, not closed.
    var open: Int
    /// How many events came with a `ce_id` that another had before.
    var repeats: Int

    var description: String { "\(requests) requests: \(closed) closed, \(open) open; \(repeats) repeats" }
}

/// An instance that has ended because it would not go on.
struct StageRefusal: Sendable {
    var status: Int32
    /// Its log.
    var log: String
}

/// What an instance says of itself.
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
