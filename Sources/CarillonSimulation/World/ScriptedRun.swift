import NotificationConsumer
import NotificationModel
import ServiceSupport

/// A run of a world under the control of a script: it starts and ends processes, publishes requests, and lets time pass. The
/// seed decides details without a visible effect, such as the order of concurrent events.
///
/// The run checks all rules; a broken rule ends it, and every later call throws it.
package final class ScriptedRun {
    /// The options of a run.
    package struct Options: Sendable {
        package var seed: UInt64
        package var partitions: Int32
        /// `exactly-once`, or `at-least-once`.
        package var isExactlyOnce: Bool
        package var bugs: Set<PlantedBug>

        package init(seed: UInt64, partitions: Int32, isExactlyOnce: Bool = true, bug: PlantedBug? = nil) {
            let bugs: Set = bug.map { [$0] } ?? []
            self.init(seed: seed, partitions: partitions, isExactlyOnce: isExactlyOnce, bugs: bugs)
        }

        package init(seed: UInt64, partitions: Int32, isExactlyOnce: Bool, bugs: Set<PlantedBug>) {
            (self.seed, self.partitions, self.isExactlyOnce, self.bugs) = (seed, partitions, isExactlyOnce, bugs)
        }
    }

    /// The script cannot continue.
    package struct Failure: Error, CustomStringConvertible {
        package var description: String
    }

    private static let shownLines = 40
    /// The delay, in microseconds, until an action of the script takes effect, so that it may interrupt any other work.
    private static let someTime: ClosedRange<Int64> = 0...200_000

    let world: World
    private var random: SeededGenerator
    private var refusals: [String: String] = [:]
    // The publisher.
    private var number = 0
    private var unacknowledged = 0
    private var loaded = 0
    /// The longest pause between two requests of the load, in microseconds.
    private let longestPause: Int64
    private var isLoading = false
    /// The ids of all requests that were acknowledged.
    package private(set) var acknowledged: [String] = []

    package init(_ options: Options) throws {
        random = SeededGenerator(seed: options.seed)
        longestPause = random.number(5_000...40_000)
        var scenarioRandom = random.split()
        world = try World(
            Simulation.Options(seed: options.seed, isExactlyOnce: options.isExactlyOnce, bugs: options.bugs),
            Scenario(partitions: options.partitions, random: &scenarioRandom),
            random: random.split()
        )
        world.onRefusal = { [unowned self] in refused($0, "\($1)") }
    }

    /// Ends the run.
    package func end() {
        for instance in world.instances { instance.process?.crash() }
        world.end()
    }

    // MARK: - Time

    /// Simulated time since the start.
    package var now: Duration { .microseconds(world.timeline.now) }

    /// - Throws: the broken rule.
    package func proceed(for time: Duration) throws {
        try check()
        world.timeline.advance(to: world.timeline.now + time.microseconds)
        try check()
    }

    /// Advances the time until a condition holds.
    func proceed(until what: String, within limit: Duration = .seconds(300), _ condition: () -> Bool) throws {
        let deadline = now + limit
        while !condition() {
            guard now < deadline else { throw failure("not within \(limit) of simulated time: \(what)") }
            try proceed(for: .milliseconds(10))
        }
    }

    private func proceedSomewhat() throws {
        try proceed(for: .microseconds(random.number(Self.someTime)))
    }

    private func check() throws {
        if let violation = world.violation { throw failure("\(violation)") }
    }

    /// With the last lines of the trace.
    package func failure(_ what: String) -> Failure {
        let lines = world.trace.lines.suffix(Self.shownLines).map { "  \($0)\n" }.joined()
        return Failure(description: "\(what)\n\(lines)")
    }

    // MARK: - Instances

    /// - Parameters:
    ///   - hasStore: whether its stores are on its machine's disk, which outlives the process.
    ///   - continuesOverGap: whether it continues when unread requests were deleted.
    package func start(_ name: String, hasStore: Bool, continuesOverGap: Bool) throws {
        try check()
        let known = world.instances.first { $0.name == name }
        guard known?.process == nil || known?.process?.isDead == true else {
            throw failure("instance \(name) is already running")
        }
        refusals[name] = nil
        world.begin(
            known ?? world.addInstance(named: name),
            ProcessSettings(hasStore: hasStore, gap: continuesOverGap ? .continue : .refuse)
        )
    }

    private func running(_ name: String) throws -> (instance: Instance, process: SimulatedProcess) {
        try check()
        guard let instance = world.instances.first(where: { $0.name == name }), let process = instance.process,
            !process.isDead
        else { throw failure("instance \(name) does not run") }
        if let refusal = refusals[name] { throw failure("instance \(name) refused: \(refusal)") }
        return (instance, process)
    }

    /// Whether it owns partitions and has restored them.
    package func isReady(_ name: String) throws -> Bool {
        let seats = try running(name).instance.seats
        return seats.allSatisfy { $0.health.status == .ready } && seats.contains { $0.status.snapshot.assigned > 0 }
    }

    /// Ends its process immediately: at a random time, or at a call.
    package func kill(_ name: String) throws {
        let process = try running(name).process
        if random.chance(500) { world.crash(process, withinCalls: Int(random.number(1...40))) }
        world.timeline.add(after: random.number(Self.someTime)) { process.crash() }
        try proceed(until: "\(name) ends") { process.isDead }
    }

    package func freeze(_ name: String) throws {
        let process = try running(name).process
        try proceedSomewhat()
        if random.chance(500) {
            // Without an open transaction that would time out, only the fence stops it when it continues.
            let latest = now + .seconds(1)
            while now < latest, !world.isBetweenTransactions(process) { try proceed(for: .milliseconds(5)) }
        }
        // Between two steps of the timeline no lane is in the middle of a call.
        world.note(process.name, "is paused")
        process.freeze()
    }

    package func thaw(_ name: String) throws {
        let process = try running(name).process
        world.note(process.name, "continues")
        process.thaw()
    }

    /// Requests a graceful shutdown, and waits for it.
    package func stop(_ name: String) throws {
        let (instance, process) = try running(name)
        try proceedSomewhat()
        world.note(process.name, "gets a request to shut down")
        for runner in instance.runners { runner.stop() }
        try proceed(until: "\(name) shuts down") { instance.runners.allSatisfy(\.isOver) }
        for seat in instance.seats.prefix(1) { seat.stores.closeAll() }
        process.crash()
    }

    /// One of its lanes refused to run: the others shut down.
    private func refused(_ instance: Instance, _ refusal: String) {
        world.note(instance.name, "refuses: \(refusal)")
        refusals[instance.name] = refusal
        for runner in instance.runners { runner.stop() }
    }

    /// Waits until it has refused to run and ended, and returns the reason.
    package func refusal(of name: String) throws -> String {
        guard let instance = world.instances.first(where: { $0.name == name }) else {
            throw failure("instance \(name) was not started")
        }
        try proceed(until: "\(name) refuses") {
            refusals[name] != nil && instance.runners.allSatisfy(\.isOver)
        }
        instance.process?.crash()
        return refusals[name] ?? ""
    }

    /// The numbers of its pending notifications and partitions, and the partitions whose lag it reports.
    package func report(of name: String) throws -> (pending: Int, partitions: Int, read: Set<Int>) {
        let statuses = try running(name).instance.seats.map(\.status.snapshot)
        return (
            statuses.reduce(0) { $0 + $1.pending },
            statuses.reduce(0) { $0 + $1.assigned },
            Set(statuses.flatMap { $0.lag.keys.map { Int($0.partition) } })
        )
    }

    // MARK: - Requests

    private func send(_ identifier: String, to recipient: String, due: Duration?) throws {
        let key = try NotificationKey(application: "shop", recipient: recipient, identifier: identifier)
        var request = PublishedRecord.Request(content: "{\"title\":\"Scenario\",\"body\":\"\(identifier)\"}")
        request.interval = due.map { $0.microseconds / 1000 }
        number += 1
        unacknowledged += 1
        let id = RequestID.derive(caller: "script", idempotencyKey: "\(number)")
        let value = Array(request.json(id: id).utf8)
        world.broker.whenThere(after: random.number(1_000...200_000)) { [unowned self] in
            let (broker, requests) = (world.broker, world.requests)
            let record = LogRecord(timestamp: broker.wall, key: key.encoded, value: value)
            requests.append(record, to: requests.home(of: key), id: id, key: key, .request(request))
            world.timeline.add(after: random.number(300...3_000)) { [unowned self] in acknowledge(id) }
        }
    }

    private func acknowledge(_ id: RequestID) {
        unacknowledged -= 1
        acknowledged.append(id.text)
    }

    /// Publishes requests for a number of recipients, one after the other, and waits until all are acknowledged.
    package func publish(_ name: String, count: Int, due: Duration?, recipients: Int) throws {
        for number in 0..<count {
            try send("\(name)-\(number)", to: Self.recipient(number % recipients), due: due)
            if random.chance(100) { try proceed(for: .microseconds(random.number(0...10_000))) }
        }
        try flush()
    }

    private func flush() throws {
        try proceed(until: "all of \(number) requests are acknowledged") { unacknowledged == 0 }
    }

    package static func recipient(_ number: Int) -> String { "scenario-\(number)" }

    /// Publishes immediate requests until `endLoad`.
    package func beginLoad() throws {
        try check()
        isLoading = true
        load(after: 0)
    }

    private func load(after microseconds: Int64) {
        world.timeline.add(after: microseconds) { [unowned self] in
            guard isLoading, world.violation == nil else { return }
            try? send("load-\(loaded)", to: Self.recipient(loaded % 64), due: nil)
            loaded += 1
            load(after: random.number(1_000...longestPause))
        }
    }

    /// Waits until a number of further requests are acknowledged.
    package func load(reaches more: Int) throws {
        let start = acknowledged.count
        try proceed(until: "\(more) more requests are acknowledged") { acknowledged.count >= start + more }
    }

    package func endLoad() throws {
        isLoading = false
        try flush()
    }
}
