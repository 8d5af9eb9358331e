import NotificationConsumer
import NotificationDelivery
import NotificationModel

/// A channel to `SimulatedDevices` that is slow, fails, rejects sends, and loses, delays or repeats outcomes.
///
/// It belongs to a process and outlives its lanes, so an outcome may arrive for a lane that has ended.
final class SimulatedChannel: DeliveryChannel {
    /// How often in a thousand sends.
    struct Rates {
        /// The device's token is gone.
        var retiring = 0
        var failing = 0
        var rejecting = 0
        /// The outcome never arrives.
        var losing = 0
        /// The outcome arrives late, perhaps after the lane has restarted.
        var delaying = 0
        /// The outcome arrives twice.
        var repeating = 0
    }

    /// The microseconds in which a send reaches its device, if at all.
    static let arrival: ClosedRange<Int64> = 1_000...4_000_000

    let name: ChannelName
    private let lane: String
    private let devices: SimulatedDevices
    private let process: SimulatedProcess
    private let timeline: Timeline
    private var random: SeededGenerator
    private let bugs: Set<PlantedBug>
    private var latest: [UUIDValue: ChannelReply] = [:]
    private var open: [ChannelReply: Int] = [:]
    var rates = Rates()
    let note: (String) -> Void

    init(
        _ name: ChannelName = .test,
        lane: String = "",
        devices: SimulatedDevices,
        process: SimulatedProcess,
        timeline: Timeline,
        random: SeededGenerator,
        bugs: Set<PlantedBug> = [],
        note: @escaping (String) -> Void = { _ in }
    ) {
        (self.devices, self.process, self.timeline) = (devices, process, timeline)
        (self.random, self.bugs, self.note, self.lane, self.name) = (random, bugs, note, lane, name)
        process.observe(pause: {}, death: { [weak self] in self?.died() })
    }

    func begin(_ send: Issued<ChannelSend>, _ reply: ChannelReply) {
        guard !process.isDead else { return }
        let send = rewrite(send)
        note(send.text)
        if bugs.contains(.acceptsLateOutcomes) { latest[send.id] = reply }
        let number = devices.begin(send, by: lane, process.clock, at: timeline.now)
        open[reply] = number
        let isQuick = random.chance(700)
        let drawn = timeline.now + random.number(isQuick ? 1_000...50_000 : Self.arrival)
        let arrival = devices.arrival(of: send.key, drawn)
        // One that is refused goes on.
        let isEndOfActivity = send.activity != nil && send.kind == .remove
        var result = ChannelResult.accepted
        var arrives = true
        if isDead(send) {
            (arrives, result) = (false, .gone(timeline.clock.wall))
        } else if retires(send) {
            // Where the app is gone, what it showed is gone, too.
            (arrives, result) = (send.kind == .remove, .gone(process.clock.wall))
        } else if random.chance(rates.failing) {
            let pause = random.chance(500) ? nil : random.number(10...20_000)
            switch random.number(0...3) {
            case 0: (arrives, result) = (false, .failed(retryAfter: pause))
            case 1: (arrives, result) = (false, .deferred(retryAfter: pause))
            // A timeout on the way to the device: the send may still have arrived.
            default:
                arrives = random.chance(500)
                result =
                    bugs.contains(.trustsSilence) ? .failed(retryAfter: pause) : .unanswered(retryAfter: pause)
            }
        } else if !send.isQuiet, !isEndOfActivity, random.chance(rates.rejecting) {
            // What a device has accepted before it accepts again.
            // A device that rejects a recall no longer shows the notification.
            arrives = send.kind == .remove
            result = .rejected(.rejected)
        }
        if bugs.contains(.trustsRejections), case .rejected = result { result = .accepted }
        if bugs.contains(.losesRecalls), send.kind == .remove { arrives = false }
        if bugs.contains(.losesBroadcastEnds), send.kind == .remove, send.registration?.kind == .broadcastChannel {
            arrives = false
        }
        if arrives { timeline.add(at: arrival) { [devices] in devices.arrive(number, at: arrival) } }
        var told = arrival + random.number(1_000...50_000)
        let isLost = random.chance(rates.losing)
        if !isLost, random.chance(rates.delaying) { told += random.number(1_000_000...90_000_000) }
        let times = random.chance(rates.repeating) ? 2 : 1
        note(isLost ? "send \(number) will not be answered" : "send \(number) will be \(result)")
        guard !isLost else { return }
        for time in 0..<times {
            timeline.add(at: told + Int64(time) * 1_000) { [weak self] in
                self?.tell(number, of: send.id, reply, result)
            }
        }
    }

    /// Whether APNs says that the token of a Live Activity is gone. It accepts most pushes to those that are over.
    private func isDead(_ send: Issued<ChannelSend>) -> Bool {
        guard let registration = send.registration, registration.kind == .liveActivity else { return false }
        if rates.retiring > 0, random.chance(rates.retiring),
            let number = devices.activities.number(of: registration.token)
        {
            devices.endActivity(number)
            return true
        }
        return devices.activities.isOver(registration.token) && random.chance(300)
    }

    /// Draws whether the token of a device is gone; one that starts activities stays so until its app registers it again.
    private func retires(_ send: Issued<ChannelSend>) -> Bool {
        let kind = send.registration?.kind
        let isRetired = rates.retiring > 0 && kind != .liveActivity && random.chance(rates.retiring)
        guard let token = send.registration?.token, kind == .liveActivityStart || kind == .broadcastChannel else {
            return isRetired
        }
        if isRetired { devices.activities.gone.insert(token) }
        return devices.activities.gone.contains(token)
    }

    /// The send that the lane requests; planted bugs change it.
    private func rewrite(_ send: Issued<ChannelSend>) -> Issued<ChannelSend> {
        guard !bugs.isDisjoint(with: PlantedBug.ofActivities), let registration = send.registration else { return send }
        var send = send
        if bugs.contains(.dismissesAtOnce) { send.work.activity?.dismissalDate = nil }
        guard registration.kind == .liveActivity else { return send }
        if bugs.contains(.updatesByStarting), send.kind != .remove {
            send.work.registration = ActivityWorkload.start(on: "a phone")
        }
        if bugs.contains(.lowersTimestamps) { send.work.activity?.timestamp -= 600 }
        return send
    }

    /// The send may still arrive at the device.
    func cancel(_ reply: ChannelReply) {
        guard !process.isDead, let number = open.removeValue(forKey: reply) else { return }
        note("cancels send \(number)")
        devices.tell(number, at: timeline.now)
    }

    private func tell(_ number: Int, of id: UUIDValue, _ reply: ChannelReply, _ result: ChannelResult) {
        guard !process.isDead else { return }
        note("gets the outcome of send \(number)")
        open[reply] = nil
        devices.tell(number, at: timeline.now)
        (latest[id] ?? reply)(result)
    }

    private func died() {
        for number in open.values.sorted() { devices.end(number) }
        open = [:]
    }
}

extension Issued<ChannelSend> {
    /// For the trace.
    var text: String {
        let what = if case .remove = self.kind { "removes" } else { "sends" }
        let names = self.devices.map { " on \(SimulatedDevices.names($0).joined(separator: ", "))" } ?? ""
        return
            "\(what)\(self.isQuiet ? " again" : "")\(activityText) \(self.requestID.text.prefix(8)) \(self.key.text)\(names) attempt "
            + "\(self.attempt) of assignment \(assignmentID)"
    }
}

extension Issued<ChannelSend> {
    /// The token and the timestamp of a push of a Live Activity.
    private var activityText: String {
        guard let registration = self.registration, let activity = self.activity else { return "" }
        return " by the token of \(registration.kind.rawValue) with the timestamp \(activity.timestamp)"
    }
}

extension NotificationKey {
    /// The key as Kafka carries it, for the trace.
    var text: String { String(decoding: encoded, as: UTF8.self) }
}
