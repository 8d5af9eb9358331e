import NotificationConsumer
import NotificationModel

/// A channel to `SimulatedDevices` that is slow, fails, refuses, and loses, delays or repeats what it has to tell.
///
/// It belongs to a process and outlives its lanes, so an outcome may come to a lane that has not asked.
final class SimulatedChannel: Channel {
    /// How often in a thousand sends.
    struct Rates {
        var failing = 0
        var rejecting = 0
        /// The answer never comes, which the channel takes for a failure after a while.
        var losing = 0
        /// The outcome comes late, perhaps after the lane restarted.
        var delaying = 0
        /// The outcome comes twice.
        var repeating = 0
    }

    /// A send reaches its device within so many microseconds, or never: less than a session, so that it cannot come after what
    /// the next owner sends.
    static let arrival: ClosedRange<Int64> = 1_000...4_000_000

    /// Microseconds for which it waits for an answer.
    private static let patience: Int64 = 100_000_000

    let name: String
    private let lane: String
    private let devices: SimulatedDevices
    private let process: SimulatedProcess
    private let timeline: Timeline
    private var random: SeededGenerator
    /// A planted bug: what was answered to an earlier attempt, or an earlier life, is told of the latest.
    private let answersTheLatest: Bool
    private var latest: [SendID: ChannelSend] = [:]
    private var outcomes: [ChannelOutcome] = []
    private var open: Set<Int> = []
    /// When the last of each key arrives, in microseconds: what it sends of one key does not overtake itself, whichever life of
    /// a centre asked.
    private var arrivals: [NotificationKey: Int64] = [:]
    var rates = Rates()
    let note: (String) -> Void

    /// - Parameter answersTheLatest: A planted bug.
    init(
        name: String,
        lane: String = "",
        devices: SimulatedDevices,
        process: SimulatedProcess,
        timeline: Timeline,
        random: SeededGenerator,
        answersTheLatest: Bool = false,
        note: @escaping (String) -> Void = { _ in }
    ) {
        (self.name, self.devices, self.process, self.timeline) = (name, devices, process, timeline)
        (self.random, self.answersTheLatest, self.note, self.lane) = (random, answersTheLatest, note, lane)
        process.observe(pause: {}, death: { [weak self] in self?.died() })
    }

    func begin(_ send: ChannelSend) {
        guard !process.isDead else { return }
        note(send.text)
        if answersTheLatest { latest[send.id] = send }
        let number = devices.begin(send, by: lane, wall: process.clock.wall, at: timeline.now)
        open.insert(number)
        let isQuick = random.chance(700)
        let drawn = timeline.now + random.number(isQuick ? 1_000...50_000 : Self.arrival)
        let arrival = max(drawn, (arrivals[send.key] ?? 0) + 1)
        arrivals[send.key] = arrival
        var outcome = ChannelOutcome(send: send, result: .accepted)
        var arrives = true
        if random.chance(rates.failing) {
            // A timeout between here and the device: it may have arrived all the same.
            arrives = random.chance(300)
            outcome.result = .failed(retryAfter: random.chance(500) ? nil : random.number(10...20_000))
        } else if random.chance(rates.rejecting) {
            // A device that refuses a recall has nothing to show any more.
            arrives = send.kind == .recall
            outcome.result = .rejected(.rejected)
        }
        if arrives { timeline.add(at: arrival) { [devices] in devices.arrive(number, at: arrival) } }
        var told = arrival + random.number(1_000...50_000)
        if random.chance(rates.losing) {
            outcome.result = .failed(retryAfter: nil)
            told += Self.patience
        } else if random.chance(rates.delaying) {
            told += random.number(1_000_000...90_000_000)
        }
        note("send \(number) will be \(outcome.result)")
        let times = random.chance(rates.repeating) ? 2 : 1
        for time in 0..<times {
            timeline.add(at: told + Int64(time) * 1_000) { [weak self] in self?.tell(number, outcome) }
        }
    }

    private func tell(_ number: Int, _ outcome: ChannelOutcome) {
        guard !process.isDead else { return }
        note("hears of send \(number)")
        open.remove(number)
        devices.tell(number, at: timeline.now)
        var outcome = outcome
        if let newer = latest[outcome.send.id] { outcome.send = newer }
        outcomes.append(outcome)
    }

    func takeOutcomes() -> [ChannelOutcome] {
        defer { outcomes = [] }
        return outcomes
    }

    /// Whether something is to be taken.
    var hasOutcomes: Bool { !outcomes.isEmpty }

    private func died() {
        for number in open.sorted() { devices.end(number) }
        (open, outcomes) = ([], [])
    }
}

extension ChannelSend {
    /// For the trace.
    var text: String {
        let what = if case .recall = kind { "recalls" } else { "sends" }
        return "\(what) \(id.requestID.text.prefix(8)) \(key.text) attempt \(attempt) of epoch \(epoch)"
    }
}

extension NotificationKey {
    /// The key as Kafka carries it, for the trace.
    var text: String { String(decoding: encoded, as: UTF8.self) }
}
