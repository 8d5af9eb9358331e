import NotificationDelivery
import NotificationModel
import NotificationState
import Testing

@testable import NotificationConsumer

/// Every sequence of a few inputs, over two devices of a recipient: what is known of a device always contains what it shows, and in
/// the end it shows what the events say.
@Suite("What two devices show after every sequence of inputs")
struct ReconcilerTests {
    @Test(arguments: [true, false])
    func `a receiver that ignores ids that it knows`(ignoresOlder: Bool) throws {
        var world = try ReconciledWorld(ignoresKnown: true, ignoresOlder: ignoresOlder)
        world.explore(depth: 5)
        #expect(world.failure == nil)
        #expect(world.leaves > 1000)
    }

    @Test func `a receiver that does all that it is asked`() throws {
        var world = try ReconciledWorld(ignoresKnown: false, ignoresOlder: false)
        world.explore(depth: 5)
        #expect(world.failure == nil)
    }
}

extension ReconcilerTests {
    @Test(arguments: [true, false])
    func `each device has operations of its own`(ignoresOlder: Bool) throws {
        var world = try ReconciledWorld(ignoresKnown: true, ignoresOlder: ignoresOlder, on: .devices)
        world.explore(depth: 4)
        #expect(world.failure == nil)
        #expect(world.leaves > 1000)
    }
}

/// A turn over one key, the phones at the other end of its channel, and all that can happen next.
struct ReconciledWorld {
    /// A phone or, where nothing else is said, both.
    private struct Phone: Equatable {
        var shown: Showing?
        var last: OperationSequence?
    }

    private enum Input: CustomStringConvertible {
        case request, removal(RemovalScope), response, leave, restart, time
        /// An operation in flight is done or not, and answered so.
        case answer(ChannelResult, isDone: Bool, number: Int = 0)

        var description: String {
            switch self {
            case .request: "request"
            case .removal(let scope): "removal of \(scope.rawValue)"
            case .response: "response"
            case .leave: "leave"
            case .restart: "restart"
            case .time: "time"
            case .answer(let result, let isDone, let number): "\(result)\(isDone ? "" : " and not done") of \(number)"
            }
        }
    }

    private static let devices = ["d", "e"]
    private let ignoresKnown: Bool
    private let ignoresOlder: Bool
    private let channel: ChannelName
    private var turn: Turn
    private var phones = ["d": Phone(), "e": Phone()]
    private var known: Set<UUIDValue> = []
    private var sends: [ChannelSend] = []
    private var isDone = false
    private var requests = 0
    private var inputs = 0
    private var path: [String] = []
    private(set) var leaves = 0
    /// The first sequence that broke a rule, and how.
    private(set) var failure: String?

    init(ignoresKnown: Bool, ignoresOlder: Bool, on channel: ChannelName = .test) throws {
        (self.ignoresKnown, self.ignoresOlder, self.channel) = (ignoresKnown, ignoresOlder, channel)
        var rules = LifecycleRules(retention: 1_000_000_000)
        rules.channels = ChannelRules(channel, and: [channel, .apns])
        turn = Turn(rules: rules, key: key("order"), at: at(0))
        for name in Self.devices {
            let registration = try DeviceRegistration(platform: "apns", token: String(repeating: name, count: 64))
            _ = turn.recipient.register(name, registration, writtenAt: at(0), at: at(0), atMost: 16)
        }
    }

    /// Tries each input that is possible now, and each that is possible after it.
    mutating func explore(depth: Int) {
        guard depth > 0 else {
            leaves += 1
            var end = self
            end.settle()
            failure = end.failure
            return
        }
        for input in possible {
            var next = self
            next.path.append("\(input)")
            next.leaves = 0
            if next.apply(input) { next.explore(depth: depth - 1) }
            leaves += next.leaves
            failure = next.failure
            guard failure == nil else { return }
        }
    }

    private var possible: [Input] {
        let entry = turn.entry
        var possible: [Input] = [.request]
        if entry.delivered != nil || !sends.isEmpty { possible += [.removal(.all), .removal(.delivered)] }
        if entry.pending != nil || entry.handover != nil { possible.append(.removal(.pending)) }
        if entry.screen != nil || entry.handover != nil { possible.append(.restart) }
        if turn.entry.delivered != nil { possible.append(.response) }
        if turn.recipient.hasActiveDevice("d") { possible.append(.leave) }
        if sends.isEmpty {
            if due != nil { possible.append(.time) }
        }
        for (number, send) in sends.enumerated() {
            // A removal that is refused for good is given up.
            if send.kind != .remove, !send.isQuiet {
                possible.append(.answer(.rejected(.rejected), isDone: false, number: number))
            }
            possible += [
                .answer(.accepted, isDone: true, number: number),
                .answer(.failed(retryAfter: nil), isDone: false, number: number),
                .answer(.unanswered(retryAfter: nil), isDone: true, number: number),
                .answer(.unanswered(retryAfter: nil), isDone: false, number: number),
            ]
        }
        return possible
    }

    /// - Returns: whether every rule holds.
    private mutating func apply(_ input: Input) -> Bool {
        inputs += 1
        let now = max(turn.now, at(Int64(inputs)))
        switch input {
        case .request:
            requests += 1
            run(at: now) { [requests] turn in
                guard case .request(let request) = NotificationConsumerTests.request("q\(requests)") else { return }
                _ = turn.apply(request.with(position: .init(.requests, offset: turn.now.rawValue)))
            }
        case .removal(let scope):
            run(at: now) { [inputs] turn in
                guard case .removal(var removal) = NotificationConsumerTests.removal("r\(inputs)", key("order"), scope)
                else { return }
                removal.position = .init(.requests, offset: turn.now.rawValue)
                _ = turn.apply(removal)
            }
        case .response:
            guard let delivered = turn.entry.delivered else { return true }
            // The person sees it on the device that shows it.
            let device = Self.devices.first { phones[$0]?.shown?.isSameOccurrence(as: delivered.showing) ?? false }
            guard let device else { return true }
            phones[device]?.shown = nil
            run(at: now) { [inputs] turn in
                var response = ResponseSignal(
                    identifier: "order",
                    requestID: delivered.requestID,
                    responseID: id("a\(inputs)"),
                    actionIdentifier: ResponseSignal.defaultAction
                )
                response.device = device
                let signal = CenterInput.Signal(
                    recipient: key("order").ofRecipient,
                    signal: .response(response),
                    position: .init(.signals, offset: Int64(inputs)),
                    trace: .none,
                    timestamp: turn.now
                )
                _ = turn.apply(response, of: signal)
            }
        case .leave:
            _ = turn.recipient.unregister("d", writtenAt: now, at: now)
            run(at: now) { $0.leave("d", by: id("left"), .none) }
        case .restart:
            // What was in flight may still be done.
            sends = []
            turn.begin(turn.key, at: now)
            turn.entry = (try? StateEntry(json: turn.entry.json, zones: nil)) ?? StateEntry()
            turn.putInDoubt(through: now)
        case .time:
            guard let due else { return true }
            run(at: max(now, due)) { $0.fire() }
        case .answer(let result, let isDone, let number): answer(result, isDone: isDone, number)
        }
        return check()
    }

    private mutating func run(at now: Timestamp, _ body: (inout Turn) -> Void) {
        turn.begin(turn.key, at: now)
        turn.run(body)
        take()
    }

    private mutating func take() {
        for case .send(let send) in turn.effects { sends.append(send) }
        turn.effects = []
    }

    /// When the entry has work.
    private var due: Timestamp? { turn.entry.due(turn.rules.channels.grouping) }

    private mutating func answer(_ result: ChannelResult, isDone: Bool, _ number: Int = 0) {
        let send = sends.remove(at: number)
        if isDone { perform(send) }
        turn.begin(turn.key, at: turn.now.adding(milliseconds: 1))
        let isCurrent = turn.run { $0.apply(result, to: send) }
        if !isCurrent { fail("the answer is not expected") }
        take()
    }

    /// As a receiver does it.
    private mutating func perform(_ send: ChannelSend) {
        if ignoresKnown, !known.insert(send.id).inserted { return }
        let names = Self.devices.filter {
            String(decoding: send.devices ?? [], as: UTF8.self).contains(#""device":"\#($0)""#)
        }
        for name in names {
            if ignoresOlder, let last = phones[name]?.last, send.sequence < last { continue }
            phones[name]?.last = send.sequence
            switch send.kind {
            case .deliver: phones[name]?.shown = Showing(send.requestID, send.occurrence)
            case .remove: phones[name]?.shown = nil
            }
        }
    }

    // MARK: - The rules

    private mutating func check() -> Bool {
        let operations = turn.entry.screen?.operations ?? []
        let inFlight = operations.filter(\.isInFlight)
        let isOne = channel == .devices ? Set(inFlight.flatMap(\.devices)).count == inFlight.count : inFlight.count <= 1
        if !isOne || inFlight.count != sends.count { fail("\(operations)") }
        for name in Self.devices where !isPossible(phones[name]?.shown, on: name) {
            fail("\(name) shows \(phones[name]?.shown as Any), known is \(turn.entry.screen as Any)")
        }
        // A newer one waits only for what is in flight.
        if turn.entry.pending != nil, sends.isEmpty, due == nil { fail("waits for ever") }
        return failure == nil
    }

    private mutating func fail(_ text: String) { failure = failure ?? "\(path): \(text)" }

    /// Whether a device may show something, as far as the entry knows.
    private func isPossible(_ shown: Showing?, on name: String) -> Bool {
        let base = turn.shown(on: name, nil)
        guard let screen = turn.entry.screen, let place = screen.place(of: name, on: channel) else {
            return isSame(shown, base)
        }
        let target = screen.targets[place]
        return isSame(shown, target.sure) || target.maybes.contains { isSame(shown, $0) }
    }

    private func isSame(_ one: Showing?, _ other: Showing?) -> Bool {
        guard let one, let other else { return one == nil && other == nil }
        return one.isSameOccurrence(as: other)
    }

    /// Everything is answered from now on: in the end the devices show what the events say.
    private mutating func settle() {
        for _ in 0..<40 {
            if !sends.isEmpty {
                answer(.accepted, isDone: true)
            } else if let due {
                run(at: max(turn.now, due)) { $0.fire() }
            }
            guard check() else { return }
        }
        if !turn.entry.isIdle { fail("\(turn.entry)") }
        for name in Self.devices {
            let target = turn.entry.screen?.place(of: name, on: channel).map { turn.entry.screen?.targets[$0] } ?? nil
            let expected = target?.isLeft ?? false ? target?.sure : turn.shown(on: name, nil)
            let isWanted = turn.recipient.hasActiveDevice(name) ? expected : nil
            if !isSame(phones[name]?.shown, isWanted) {
                fail("\(name) shows \(phones[name]?.shown as Any) and not \(isWanted as Any)")
            }
        }
    }
}
