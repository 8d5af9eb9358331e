package import Metrics
import NotificationModel

/// The counters of the consumer service. A lane counts in plain integers and adds them up once a turn.
package final class LaneMetrics {
    private let applied: Counter
    private let duplicates: Counter
    private let superseded: Counter
    private let events: [Counter]
    private let deadLetters: [ReasonCode: Counter]
    private let forgotten: Counter
    private let deviation: Timer
    private let checkpoint: Timer
    private let restore: Timer
    private let aborts: Counter
    private let lateOutcomes: Counter
    private let keylessState: Counter

    private var appliedCount: Int64 = 0
    private var eventCounts: [Int64]

    package init(factory: any MetricsFactory) {
        func counter(_ name: String, _ dimensions: [(String, String)] = []) -> Counter {
            Counter(label: name, dimensions: dimensions, factory: factory)
        }
        applied = counter("requests", [("outcome", "applied")])
        duplicates = counter("requests", [("outcome", "duplicate")])
        superseded = counter("requests", [("outcome", "superseded")])
        events = DeliveryEventName.allCases.map { counter("notification.events", [("name", $0.rawValue)]) }
        deadLetters = Dictionary(
            uniqueKeysWithValues: ReasonCode.allCases.map {
                ($0, counter("dead.letters", [("reason", $0.rawValue)]))
            }
        )
        forgotten = counter("center.entries.forgotten.early")
        deviation = Timer(label: "schedule.deviation", factory: factory)
        checkpoint = Timer(label: "checkpoint.duration", factory: factory)
        restore = Timer(label: "restore.duration", factory: factory)
        aborts = counter("transactions.aborted")
        lateOutcomes = counter("channel.outcomes.late")
        keylessState = counter("state.records.without.key")
        eventCounts = Array(repeating: 0, count: DeliveryEventName.allCases.count)
    }

    func count(_ outcome: NotificationCenter.Outcome) {
        switch outcome {
        case .applied: appliedCount += 1
        case .duplicate: duplicates.increment()
        case .superseded: superseded.increment()
        case .unfinished: break
        }
    }

    func count(_ name: DeliveryEventName) {
        eventCounts[name.index] += 1
    }

    func count(deadLetter reason: ReasonCode) {
        deadLetters[reason]?.increment()
    }

    func count(forgottenEarly count: Int) {
        if count > 0 { forgotten.increment(by: Int64(count)) }
    }

    func record(lateness milliseconds: Int64) {
        deviation.recordMilliseconds(milliseconds)
    }

    func countAbort() { aborts.increment() }

    func count(keylessState count: Int64) {
        if count > 0 { keylessState.increment(by: count) }
    }

    func countLateOutcome() { lateOutcomes.increment() }

    func record(checkpoint duration: Duration) { checkpoint.recordNanoseconds(duration.nanoseconds) }

    func record(restore duration: Duration) { restore.recordNanoseconds(duration.nanoseconds) }

    /// Adds up what was counted since the last call.
    func flush() {
        if appliedCount > 0 { applied.increment(by: appliedCount) }
        appliedCount = 0
        for index in eventCounts.indices where eventCounts[index] > 0 {
            events[index].increment(by: eventCounts[index])
            eventCounts[index] = 0
        }
    }
}

extension DeliveryEventName {
    /// Its place in `allCases`.
    var index: Int { Self.indices[self] ?? 0 }

    private static let indices = Dictionary(uniqueKeysWithValues: zip(allCases, allCases.indices))
}
