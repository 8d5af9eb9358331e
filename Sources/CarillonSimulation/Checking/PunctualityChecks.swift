import NotificationConsumer
import NotificationModel

/// What holds while nothing is wrong: what is due is handed over soon, nothing is missed, and no lane fails.
struct PunctualityChecks {
    /// Microseconds after the last fault, rebalance or change of a clock for which anything may still be its consequence.
    static let settling: Int64 = 30_000_000
    /// Microseconds from when something is due to when readers see it, or its channel has it.
    static let limit: Int64 = 1_500_000

    /// When something was last wrong, in microseconds.
    private(set) var disturbedAt: Int64 = 0
    /// The longest that something due took while nothing was wrong, in microseconds.
    private(set) var longest: Int64 = 0
    private var checked = 0
    /// When a transaction of another producer last kept requests from being read, in microseconds.
    private var blockedAt: Int64 = 0
    /// Microseconds since an instant in which a slow broker took what was written before: nobody is seen sooner.
    private let busyTime: (_ since: Int64) -> Int64

    init(busyTime: @escaping (_ since: Int64) -> Int64 = { _ in 0 }) { self.busyTime = busyTime }

    mutating func disturb(at now: Int64) { disturbedAt = max(disturbedAt, now) }

    mutating func noteBlocked(at now: Int64) { blockedAt = now }

    func isCalm(at now: Int64) -> Bool { now > disturbedAt + Self.settling }

    /// - Parameters:
    ///   - due: when it may be handed over, in microseconds.
    mutating func check(due: Int64, at now: Int64, _ text: @autoclosure () -> String) throws(Violation) {
        let since = max(due, blockedAt, disturbedAt + Self.settling)
        let late = now - since - busyTime(since)
        longest = max(longest, late)
        guard late <= Self.limit else {
            throw Violation(.punctual, "\(text()), \(late / 1000) ms late while nothing is wrong")
        }
    }

    /// Looks at the events that came since the last call.
    ///
    /// - Parameters:
    ///   - slack: microseconds by which a clock is behind.
    ///   - latest: what no clock is beyond.
    ///   - areClocksRight: nothing can be due long before its time.
    mutating func check(
        _ observer: Observer,
        at now: Int64,
        slack: Int64,
        latest: Timestamp = .latest,
        areClocksRight: Bool,
        usesChannel: Bool
    ) throws(Violation) {
        while checked < observer.events.count {
            let observed = observer.events[checked]
            checked += 1
            guard observed.time <= latest else {
                throw Violation(.neverEarly, "\(observed.text), when no clock is beyond \(latest)")
            }
            let event = observed.event
            guard let entry = observer.model.requests[event.requestID], !event.inDoubt else { continue }
            switch event.name {
            case .delivered where !usesChannel:
                let due = observer.model.handOver(of: entry, event.occurrence, observer.events(of: event.requestID))
                try check(due: due + slack, at: now, observed.text)
            case .scheduled, .held:
                try check(due: SimulatedClock.elapsed(at: entry.record.timestamp) + slack, at: now, observed.text)
            case .missed where !usesChannel:
                guard areClocksRight, let first = event.first else { continue }
                let due = observer.model.handOver(of: entry, first, [])
                guard due < disturbedAt + Self.settling else {
                    throw Violation(.punctual, "\(observed.text), and nothing was wrong")
                }
            default: continue
            }
        }
    }
}

extension ReferenceModel {
    /// When something may be handed over, in microseconds: what its record says, or the end of its collapse window.
    func handOver(of entry: Request, _ occurrence: Timestamp?, _ events: [ObservedEvent]) -> Int64 {
        if let occurrence { return SimulatedClock.elapsed(at: due(entry, number(of: occurrence, entry))) }
        let until = events.last { $0.event.name == .held }?.event.until
        return SimulatedClock.elapsed(at: until ?? entry.record.timestamp)
    }
}
