import NotificationDelivery
import NotificationModel
import NotificationState
import TestSupport
import Testing

@testable import NotificationConsumer

/// A phone with an app that follows one Live Activity, and what Carillon makes of it, with answers that are lost, tokens that come late,
/// and restarts.
@Suite("Live Activities, drawn at random")
struct LiveActivityPropertyTests {
    /// What a phone shows.
    private struct Phone {
        struct Activity {
            var token: String
            var shows: RequestID
            var timestamp: Int64
            var isRegistered = false
        }

        var activity: Activity?
        /// The registered tokens of activities that another one took the place of.
        var former: [String] = []
        private var started = 0

        mutating func take(_ send: ChannelSend) {
            guard let timestamp = send.activity?.timestamp, let registration = send.registration else { return }
            if registration.kind == .liveActivityStart, send.kind != .remove {
                started += 1
                if let activity, activity.isRegistered { former.append(activity.token) }
                let digits = String(started, radix: 16)
                let token = String(repeating: "0", count: 64 - digits.count) + digits
                activity = Activity(token: token, shows: send.requestID, timestamp: timestamp)
                return
            }
            guard let shown = activity, shown.token == registration.token, timestamp >= shown.timestamp else { return }
            if send.kind == .remove {
                activity = nil
            } else {
                activity?.shows = send.requestID
                activity?.timestamp = timestamp
            }
        }
    }

    private struct Run {
        var bench: Bench
        var phone = Phone()
        var draw: SeededGenerator
        var now: Int64 = 0
        var requests = 0
        var removals = 0
        /// Of sends without an answer.
        var open: [Int] = []
        var seen = 0
        let isFaithful: Bool
        /// Whether APNs has accepted a push to the token of an activity that was over.
        var isLost = false
        static let rules: LifecycleRules = {
            var rules = LifecycleRules(retention: 1_000_000_000)
            rules.channels = ChannelRules(.devices, and: [.devices, .apns])
            return rules
        }()

        init(seed: UInt64, isFaithful: Bool) throws {
            (bench, draw, self.isFaithful) = (Bench(Self.rules), SeededGenerator(seed: seed), isFaithful)
            bench.apply(
                try LiveActivityTests.device(
                    "start",
                    LiveActivityTests.start,
                    "liveActivityStart",
                    #","attributesType":"Order""#
                )
            )
        }

        private static func name(_ token: String) -> String { "activity-\(token.suffix(4))" }

        mutating func noteSends() {
            while seen < bench.sends.count {
                open.append(seen)
                seen += 1
            }
        }

        /// The app registers the token of what it shows, and takes back those of other activities.
        mutating func register() throws {
            guard let activity = phone.activity, !activity.isRegistered else { return }
            phone.activity?.isRegistered = true
            let members = #","activity":"order","pushToStart":"start""#
            let name = Self.name(activity.token)
            bench.apply(try LiveActivityTests.device(name, activity.token, "liveActivity", members, at: now), now)
            noteSends()
            for token in phone.former { unregister(token) }
            phone.former = []
        }

        /// The app says that an activity is over.
        mutating func unregister(_ token: String) {
            bench.apply(DeviceTests.gone(Self.name(token), at: now), now)
            noteSends()
        }

        /// - Parameter isSure: whether nothing is lost.
        mutating func answer(isSure: Bool = false) throws {
            guard !open.isEmpty else { return }
            let number = open.remove(at: draw.below(open.count))
            let send = bench.sends[number]
            let isDead = send.registration?.kind == .liveActivity && phone.activity?.token != send.registration?.token
            let luck = isSure ? 0 : draw.below(10)
            let arrives = luck < 7 || luck == 8 && draw.below(2) == 0
            if arrives { phone.take(send) }
            let result: ChannelResult
            switch luck {
            case ..<7 where isDead && draw.below(2) == 0: result = .gone(at(now))
            case ..<7: result = send.kind == .remove ? .removed(.requested) : .accepted
            case 7: result = .failed(retryAfter: nil)
            default: result = .unanswered(retryAfter: nil)
            }
            if isDead, luck < 7, send.kind != .remove {
                if case .gone = result {} else { isLost = true }
            }
            // An answer may be late: its operation has ended.
            _ = try bench.center.apply(result, to: send, at: at(now))
            bench.fire(now)
            noteSends()
        }

        mutating func step() throws {
            now += Int64(draw.below(4_000))
            switch draw.below(12) {
            case 0...3:
                requests += 1
                let content =
                    #"{"title":"T","body":"B","liveActivity":{"attributesType":"Order","attributes":{},"contentState":{"n":\#(requests)}}}"#
                bench.apply(LiveActivityTests.request("q\(requests)", content, at: now), now)
                noteSends()
            case 4:
                removals += 1
                bench.apply(removal("r\(removals)", at: at(now)), now)
                noteSends()
            case 5: try register()
            case 6 where !isFaithful:
                // A person closes it.
                guard let activity = phone.activity else { return }
                phone.activity = nil
                if activity.isRegistered { unregister(activity.token) }
            case 7:
                bench.fire(now + 60_000)
                now += 60_000
                noteSends()
            default: try answer()
            }
            try passSignals()
        }

        /// What Carillon tells itself.
        mutating func passSignals() throws {
            while !bench.signals.isEmpty {
                let signal = bench.signals.removeFirst()
                bench.apply(DeviceTests.signal(signal.signal, at: now), now)
                noteSends()
            }
        }

        /// Until nothing is left to be done.
        mutating func rest() throws {
            for round in 0..<400 {
                // First in time for what is tried again, then for what waits for a token that never comes.
                now += round < 200 ? 5_000 : 600_000
                try register()
                bench.fire(now)
                noteSends()
                try answer(isSure: true)
                try passSignals()
                if open.isEmpty, bench.entry(key("order"))?.isIdle ?? true { return }
            }
            Issue.record("it does not come to rest: \(String(describing: bench.entry(key("order"))))")
        }
    }

    @Test(arguments: Array(0..<300) + [17_210, 17_840])
    func `each request has one end, timestamps grow, and at rest a phone shows what the events say`(_ seed: Int)
        throws
    {
        var run = try Run(seed: UInt64(seed), isFaithful: seed % 2 == 0)
        for _ in 0..<40 { try run.step() }
        try run.rest()
        let closed = run.bench.events.filter(\.closes).map { "\($0.requestID)" }.sorted()
        #expect(closed == (1...max(1, run.requests)).prefix(run.requests).map { "q\($0)" }.sorted(), "seed \(seed)")
        var last: [String: (send: ChannelSend, timestamp: Int64)] = [:]
        for send in run.bench.sends where send.registration?.kind == .liveActivity {
            let (token, timestamp) = (send.registration?.token ?? "", send.activity?.timestamp ?? 0)
            if let former = last[token] {
                // What is sent once more may have the same.
                let isSame =
                    former.send.requestID == send.requestID && (former.send.kind == .remove) == (send.kind == .remove)
                #expect(
                    isSame ? timestamp >= former.timestamp : timestamp > former.timestamp,
                    "seed \(seed): \(former.timestamp) of \(former.send.requestID), then \(timestamp) of \(send.requestID)"
                )
            }
            last[token] = (send, timestamp)
        }
        guard run.isFaithful, !run.isLost else { return }
        let delivered = run.bench.entry(key("order"))?.delivered
        #expect(run.phone.activity?.shows == delivered?.requestID, "seed \(seed)")
    }
}
