import NotificationConsumer
import NotificationModel

/// The checks of undisturbed operation: due notifications are handed over soon, none is missed, and no lane fails.
struct PunctualityChecks {
    /// For how many microseconds the last fault, rebalance or change of a clock may have consequences.
    static let settling: Int64 = 30_000_000
    /// The longest permitted time from a due time to the committed event or the hand-over to the channel, in microseconds.
    static let limit: Int64 = 1_500_000

    /// The end of the last disturbance, in microseconds.
    private(set) var disturbedAt: Int64 = 0
    /// The longest delay during undisturbed operation, in microseconds.
    private(set) var longest: Int64 = 0
    private var checked = 0
    /// When an open transaction of another producer last blocked the reading of requests, in microseconds.
    private var blockedAt: Int64 = 0
    /// For how many microseconds since an instant a slow broker was busy with earlier records, which delays all later ones.
    private let busyTime: (_ since: Int64) -> Int64

    init(busyTime: @escaping (_ since: Int64) -> Int64 = { _ in 0 }) { self.busyTime = busyTime }

    mutating func disturb(at now: Int64) { disturbedAt = max(disturbedAt, now) }

    mutating func noteBlocked(at now: Int64) { blockedAt = now }

    func isCalm(at now: Int64) -> Bool { now > disturbedAt + Self.settling }

    /// - Parameters:
    ///   - due: when it may be handed over, in microseconds.
    ///   - wait: for how long it then waits for its enrichment.
    mutating func check(
        due: Int64,
        waiting wait: Int64 = 0,
        at now: Int64,
        _ text: @autoclosure () -> String
    ) throws(Violation) {
        let since = max(due, blockedAt, disturbedAt + Self.settling)
        let late = now - since - busyTime(since) - wait
        longest = max(longest, late)
        guard late <= Self.limit else {
            throw Violation(.punctual, "\(text()), \(late / 1000) ms late in undisturbed operation")
        }
    }

    /// Checks the events since the last call.
    ///
    /// - Parameters:
    ///   - slack: by how many microseconds a clock may be behind.
    ///   - latest: the latest time that a clock can show.
    ///   - areClocksRight: whether no clock has a large error.
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
                throw Violation(.neverEarly, "\(observed.text), although no clock is later than \(latest)")
            }
            let event = observed.event
            guard let entry = observer.model.requests[event.requestID], !event.inDoubt else { continue }
            switch event.name {
            // A crossing is due when its fix is read.
            case .delivered where entry.request.isOfRegion, .missed where entry.request.isOfRegion: continue
            case .delivered where entry.request.limits != nil, .held where entry.request.limits != nil,
                .missed where entry.request.limits != nil:
                continue
            case .delivered where !usesChannel:
                let due = observer.model.handOver(of: entry, event.occurrence, observer.events(of: event.requestID))
                try check(due: due + slack, waiting: entry.request.enrichmentTime, at: now, observed.text)
            case .scheduled, .held:
                try check(due: SimulatedClock.elapsed(at: entry.record.timestamp) + slack, at: now, observed.text)
            case .missed where !usesChannel:
                guard areClocksRight, let first = event.first else { continue }
                let due = observer.model.handOver(of: entry, first, [])
                guard due < disturbedAt + Self.settling else {
                    throw Violation(.punctual, "\(observed.text), in undisturbed operation")
                }
            default: continue
            }
        }
    }
}

extension PublishedRecord.Request {
    /// How long its enrichment may take, in microseconds.
    var enrichmentTime: Int64 { isEnriched ? SimulatedEnrichment.times.deadline * 1000 : 0 }
}

extension ReferenceModel {
    /// When a notification may be handed over, in microseconds: the due time in its record, or the end of its collapse window.
    func handOver(of entry: Request, _ occurrence: Timestamp?, _ events: [ObservedEvent]) -> Int64 {
        if let occurrence { return SimulatedClock.elapsed(at: due(entry, number(of: occurrence, entry))) }
        let until = events.last { $0.event.name == .held }?.event.until
        return SimulatedClock.elapsed(at: until ?? entry.record.timestamp)
    }
}
