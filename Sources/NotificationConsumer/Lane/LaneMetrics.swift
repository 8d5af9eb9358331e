package import Metrics
import NotificationModel
import NotificationState
import ServiceSupport

/// The counters of the consumer service. A lane counts in plain integers and adds them to the shared counters once per
/// turn.
package final class LaneMetrics {
    private let applied: Counter
    private let duplicates: Counter
    private let superseded: Counter
    private let requested: Counter
    private let signals: [SignalOutcome: Counter]
    private let devices: [DeviceOutcome: Counter]
    private let responses: Counter
    private let unknownCategories: Counter
    private let shortened: Counter
    /// What payloads of APNs in requests say and contents do not.
    let unsaid: UnsaidMembers
    private let events: [Counter]
    /// By the index of the name; nil for events that close nothing.
    private let closed: [Counter?]
    private let deadLetters: [ReasonCode: Counter]
    private let forgotten: Counter
    private let deviation: Timer
    private let checkpoint: Timer
    private let restore: Timer
    private let aborts: Counter
    /// Counts a late or duplicate outcome; from any thread.
    let lateOutcomeCount: @Sendable () -> Void
    /// Counts a late result of an enrichment; from any thread.
    let lateEnrichmentCount: @Sendable () -> Void
    private let timedOutSends: Counter
    private let keylessState: Counter
    private let missingZones: Counter
    /// By channel.
    private var latencies: [ChannelName: Timer] = [:]
    private let lastCheckpoint: Gauge
    private let restarts: Counter
    private let rebalances: [Rebalance: Counter]
    private let factory: any MetricsFactory

    /// Whether no latency was recorded in this turn yet.
    private(set) var wantsLatency = true
    private var appliedCount: Int64 = 0
    private var requestedCount: Int64 = 0
    private var eventCounts: [Int64]
    private var closedCounts: [Int64]

    /// What became of a signal.
    enum SignalOutcome: String, CaseIterable {
        /// A fix: applied to regions, too late, or of a recipient for whom nothing waits for a region.
        case located, late, unawaited
        /// Sent on to the partition of its recipient.
        case forwarded
        /// It answers what is shown, or something else; its device or its request is not known.
        case matched, unmatched, unknown
        /// It was applied before.
        case duplicate
    }

    /// What became of a registration of a device, or of its end.
    enum DeviceOutcome: String, CaseIterable {
        /// The device is new or has changed, or only its times.
        case registered, refreshed
        /// The device is gone, or was not known.
        case retired, unknown
        /// It was applied before.
        case duplicate
    }

    /// What the group did with the partitions of the lane.
    enum Rebalance: String, CaseIterable {
        case assigned, revoked, lost
    }

    /// The reasons that make a request a dead letter. Any other reason appears once it has occurred.
    private static let deadLetterReasons: [ReasonCode] = [
        .invalid, .unknownField, .unknownTrigger, .tooLarge, .notUTF8, .misrouted, .inFuture, .unsupportedForm,
    ]

    /// The events of which one closes each request.
    private static let closing: Set<DeliveryEventName> = [
        .delivered, .superseded, .cancelled, .expired, .suppressed, .failed, .digested,
    ]

    package init(factory: any MetricsFactory, lane: Int = 0) {
        self.factory = factory
        func counter(_ name: String, _ dimensions: [(String, String)] = []) -> Counter {
            Counter(label: name, dimensions: dimensions, factory: factory)
        }
        applied = counter("requests", [("outcome", "applied")])
        duplicates = counter("requests", [("outcome", "duplicate")])
        superseded = counter("requests", [("outcome", "superseded")])
        requested = counter("notifications.requested")
        signals = Dictionary(
            uniqueKeysWithValues: SignalOutcome.allCases.map { ($0, counter("signals", [("outcome", $0.rawValue)])) }
        )
        devices = Dictionary(
            uniqueKeysWithValues: DeviceOutcome.allCases.map {
                ($0, counter("device.registrations", [("outcome", $0.rawValue)]))
            }
        )
        responses = counter("response.events")
        unknownCategories = counter("categories.unknown")
        shortened = counter("events.shortened")
        unsaid = UnsaidMembers(counter(UnsaidMembers.metric))
        events = DeliveryEventName.allCases.map { counter("notification.events", [("name", $0.rawValue)]) }
        closed = DeliveryEventName.allCases.map { name in
            Self.closing.contains(name) ? counter("notifications.closed", [("name", name.rawValue)]) : nil
        }
        deadLetters = Dictionary(
            uniqueKeysWithValues: Self.deadLetterReasons.map {
                ($0, counter("dead.letters", [("reason", $0.rawValue)]))
            }
        )
        forgotten = counter("center.entries.forgotten.early")
        deviation = Timer(label: "schedule.deviation", factory: factory)
        checkpoint = Timer(label: "checkpoint.duration", factory: factory)
        restore = Timer(label: "restore.duration", factory: factory)
        aborts = counter("transactions.aborted")
        let lateOutcomes = counter("channel.outcomes.late")
        lateOutcomeCount = { lateOutcomes.increment() }
        let lateEnrichments = counter("enrichments.late")
        lateEnrichmentCount = { lateEnrichments.increment() }
        timedOutSends = counter("sends.timed.out")
        keylessState = counter("state.records.without.key")
        missingZones = counter("schedule.zones.missing")
        latencies[.events] = Self.latency(of: .events, factory)
        lastCheckpoint = Gauge(
            label: "checkpoint.success.timestamp.seconds",
            dimensions: [("lane", "\(lane)")],
            factory: factory
        )
        restarts = counter("lane.restarts")
        rebalances = Dictionary(
            uniqueKeysWithValues: Rebalance.allCases.map {
                ($0, counter("consumer.rebalances", [("event", $0.rawValue)]))
            }
        )
        eventCounts = Array(repeating: 0, count: DeliveryEventName.allCases.count)
        closedCounts = eventCounts
    }

    /// Counts what became of a record.
    ///
    /// - Parameter input: its topic: a repeat, or a device that is not known, is counted with the others of its kind.
    func count(_ outcome: CenterInput.Outcome, of input: InputTopic) {
        switch outcome {
        case .applied: appliedCount += 1
        case .duplicate: countDuplicate(of: input)
        case .superseded: superseded.increment()
        case .located: signals[.located]?.increment()
        case .late: signals[.late]?.increment()
        case .unawaited: signals[.unawaited]?.increment()
        case .matched: signals[.matched]?.increment()
        case .unmatched: signals[.unmatched]?.increment()
        case .unknown where input == .devices: devices[.unknown]?.increment()
        case .unknown: signals[.unknown]?.increment()
        case .registered: devices[.registered]?.increment()
        case .refreshed: devices[.refreshed]?.increment()
        case .retired: devices[.retired]?.increment()
        // The dead letter is counted.
        case .unfinished, .claimed, .refused: break
        }
    }

    private func countDuplicate(of input: InputTopic) {
        switch input {
        case .requests: duplicates.increment()
        case .signals: signals[.duplicate]?.increment()
        case .devices: devices[.duplicate]?.increment()
        case .tokens: break
        }
    }

    func count(unknownCategories count: Int) { unknownCategories.increment(by: Int64(count)) }

    /// An event did not fit a record as a whole.
    func countShortened() { shortened.increment() }

    func countResponse() { responses.increment() }

    func countForwarded() { signals[.forwarded]?.increment() }

    /// - Parameter closes: whether the event closes its request.
    func count(_ name: DeliveryEventName, closes: Bool) {
        let index = name.index
        eventCounts[index] += 1
        if closes { closedCounts[index] += 1 }
    }

    /// Counts requests that are open from now, each until an event closes it.
    func count(requested count: Int) { requestedCount += Int64(count) }

    func count(deadLetter reason: ReasonCode) {
        let counter =
            deadLetters[reason]
            ?? Counter(label: "dead.letters", dimensions: [("reason", reason.rawValue)], factory: factory)
        counter.increment()
    }

    func count(forgottenEarly count: Int) {
        if count > 0 { forgotten.increment(by: Int64(count)) }
    }

    func record(lateness milliseconds: Int64) {
        deviation.recordMilliseconds(milliseconds)
    }

    /// Records the time from the timestamp of an immediate request to its event. One value per turn is enough: with
    /// one per record, lanes would contend for the shared counters.
    func record(latencyOfEvent milliseconds: Int64) {
        wantsLatency = false
        record(latency: milliseconds, of: .events)
    }

    /// Records the time from a request, or from when its trigger was due, until a channel has accepted it.
    func record(latency milliseconds: Int64, of channel: ChannelName) {
        if latencies[channel] == nil { latencies[channel] = Self.latency(of: channel, factory) }
        latencies[channel]?.recordMilliseconds(max(0, milliseconds))
    }

    private static func latency(of channel: ChannelName, _ factory: any MetricsFactory) -> Timer {
        Timer(label: "delivery.latency", dimensions: [("channel", channel.rawValue)], factory: factory)
    }

    func record(checkpointAt time: Timestamp) {
        lastCheckpoint.record(Double(time.rawValue) / 1000)
    }

    func count(_ rebalance: Rebalance) { rebalances[rebalance]?.increment() }

    func countRestart() { restarts.increment() }

    func countAbort() { aborts.increment() }

    func count(keylessState count: Int64) {
        if count > 0 { keylessState.increment(by: count) }
    }

    func count(missingZone count: Int) { missingZones.increment(by: Int64(count)) }

    func countTimedOutSend() { timedOutSends.increment() }

    func record(checkpoint duration: Duration) { checkpoint.recordNanoseconds(duration.nanoseconds) }

    func record(restore duration: Duration) { restore.recordNanoseconds(duration.nanoseconds) }

    /// Adds the counts since the last call to the shared counters.
    func flush() {
        if appliedCount > 0 { applied.increment(by: appliedCount) }
        if requestedCount > 0 { requested.increment(by: requestedCount) }
        (appliedCount, requestedCount) = (0, 0)
        wantsLatency = true
        for index in eventCounts.indices where eventCounts[index] > 0 {
            events[index].increment(by: eventCounts[index])
            eventCounts[index] = 0
            if closedCounts[index] > 0 { closed[index]?.increment(by: closedCounts[index]) }
            closedCounts[index] = 0
        }
    }
}

extension DeliveryEventName {
    /// The position in `allCases`.
    var index: Int { Self.indices[self] ?? 0 }

    private static let indices = Dictionary(uniqueKeysWithValues: zip(allCases, allCases.indices))
}
