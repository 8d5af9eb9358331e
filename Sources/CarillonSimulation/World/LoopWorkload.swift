import Kafka
import NotificationModel

/// The devices of the workload's recipients, and what comes back from them: registrations, responses, receipts, states of apps,
/// retirements. It also gives some requests limits, threads and badges.
final class LoopWorkload {
    /// A device of every second recipient that is registered once, and always shows everything: its badge counts each
    /// notification.
    static let watch = "watch"
    /// Where each device is reached by itself: one of a platform that no channel reaches.
    static let unreached = "phone-2"

    private let broker: SimulatedBroker
    private let topics: TopicNames
    private let log: LoopLog
    private let scenario: Scenario
    private var random: SeededGenerator
    private var recent: [(key: NotificationKey, id: RequestID)] = []
    private var responses: [(recipient: String, signal: ResponseSignal)] = []
    private var watches: Set<String> = []
    /// The receipts of devices.
    private var told: Set<String> = []
    private var number = 0

    init(broker: SimulatedBroker, topics: TopicNames, log: LoopLog, scenario: Scenario, random: SeededGenerator) {
        (self.broker, self.topics, self.log, self.scenario) = (broker, topics, log, scenario)
        self.random = random
    }

    // MARK: - Requests

    /// Gives a request a thread or a badge, and limits.
    func decorate(_ request: inout PublishedRecord.Request, _ key: NotificationKey, _ id: RequestID?) {
        var members = ""
        if random.chance(500) { members += ",\"badgeIncrement\":1" }
        if random.chance(500) { members += ",\"threadIdentifier\":\"thread-\(random.index(2))\"" }
        // An app's delegate decides in the foreground: without a banner a badge would not count.
        if random.chance(100) { members += ",\"categoryIdentifier\":\"unknown\"" }
        if random.chance(700) { request.limits = limits(for: &request, members) }
        if request.limits?.isCritical == true { members += ",\"interruptionLevel\":\"critical\"" }
        request.content = "\(request.content.dropLast())\(members)}"
        if let id {
            recent.append((key, id))
            if recent.count > 12 { recent.removeFirst() }
        }
    }

    private func limits(for request: inout PublishedRecord.Request, _ members: String) -> SimulatedLimits? {
        var limits = SimulatedLimits()
        if random.chance(400) {
            let now = broker.wall / 1000
            let local = (now + SimulatedZone.offset(at: now)) / 60
            let start = local + random.number(-3...3)
            let end = start + random.number(1...20)
            limits.quiet = .init(start: start % 1440, end: end % 1440, isHold: random.chance(700))
        }
        limits.isCapped = random.chance(600)
        if members.contains("threadIdentifier"), !request.repeats, random.chance(500) {
            limits.digestWindow = 1000 * random.number(1...SimulatedLimits.longestWindow / 1000)
        }
        limits.isCritical = random.chance(100)
        return limits.json.isEmpty ? nil : limits
    }

    // MARK: - Devices and signals

    /// Something that the devices of a recipient do, sometimes.
    func act(_ recipient: String) {
        if random.chance(500) { registerWatch(of: recipient) }
        for _ in 0..<random.pick([0, 1, 1, 2]) {
            switch random.index(10) {
            case 0..<3: register("phone-\(random.index(3))", of: recipient)
            case 3: unregister("phone-\(random.index(3))", of: recipient)
            case 4: retire("phone-\(random.index(3))", of: recipient)
            case 5:
                let state = AppStateSignal(
                    application: "shop",
                    device: "phone-\(random.index(3))",
                    state: random.pick(AppStateSignal.State.allCases),
                    badge: random.pick([nil, 0, 5])
                )
                append(.appState(state), recipient)
            case 6: receipt()
            default: respond()
            }
        }
    }

    private func registerWatch(of recipient: String) {
        guard recipient.utf8.last.map({ $0 % 2 == 0 }) ?? false, watches.insert(recipient).inserted else { return }
        append(Self.watch, of: recipient, token: "watch of \(recipient)", .authorized)
    }

    private func register(_ device: String, of recipient: String) {
        // A token of few: some devices change hands.
        append(
            device,
            of: recipient,
            token: "token \(random.index(4))",
            random.pick([.authorized, .authorized, .authorized, .denied, .provisional])
        )
    }

    private func append(_ device: String, of recipient: String, token: String, _ status: AuthorizationStatus) {
        let isReached = scenario.reachesDevices && device != Self.unreached
        let hexadecimal = token.utf8.map { String($0, radix: 16) }.joined()
        guard
            var registration = try? DeviceRegistration(
                platform: isReached ? "apns" : "simulated",
                token: isReached ? String(repeating: hexadecimal, count: 64 / hexadecimal.utf8.count + 1) : token
            )
        else { return }
        registration.authorizationStatus = status
        if device != Self.watch, random.chance(200) { registration.settings[.badge] = .disabled }
        if random.chance(200) { registration.timeZone = SimulatedZone.name }
        log.note(device: device, of: recipient, isAuthorized: status != .denied)
        appendDevice(device, recipient, registration.json)
    }

    private func unregister(_ device: String, of recipient: String) { appendDevice(device, recipient, nil) }

    /// - Parameter value: nil for the end of a registration.
    func appendDevice(_ device: String, _ recipient: String, _ value: [UInt8]?) {
        guard let key = try? NotificationKey(application: "shop", recipient: recipient, identifier: device) else {
            return
        }
        let record = LogRecord(
            timestamp: broker.wall + random.number(-100...100),
            key: key.encoded,
            value: value,
            headers: []
        )
        let place = Place(
            partition: log.home(of: recipient),
            offset: broker.append(record, to: topics.devices, log.home(of: recipient))
        )
        log.text("writes \(value == nil ? "the end of " : "")device \(recipient) \(device) at \(place)")
    }

    private func retire(_ device: String, of recipient: String) {
        let gone = Timestamp(rawValue: broker.wall + random.number(-10_000...1_000))
        append(.retirement(RetirementSignal(application: "shop", device: device, gone: gone)), recipient)
    }

    private func receipt() {
        guard !recent.isEmpty else { return }
        let (key, id) = random.pick(recent)
        let receipt = ReceiptSignal(
            application: "shop",
            identifier: key.identifier,
            requestID: id,
            device: "phone-\(random.index(3))",
            receipt: random.pick(ReceiptSignal.Receipt.allCases)
        )
        // What is forgotten counts again.
        guard told.insert("\(id.text) \(receipt.device) \(receipt.receipt)").inserted || !scenario.forgets else {
            return
        }
        append(.receipt(receipt), key.recipient)
    }

    private func respond() {
        // Once more, as an app without an answer does.
        if !scenario.forgets, !responses.isEmpty, random.chance(200) {
            let (recipient, signal) = random.pick(Array(responses.suffix(6)))
            return append(.response(signal), recipient)
        }
        number += 1
        let isKnown = random.chance(850) && !recent.isEmpty
        guard let (key, id) = isKnown ? random.pick(recent) : unknown else { return }
        // No category of a run has an action.
        let action = random.chance(150) ? "reply" : ResponseSignal.defaultAction
        let response = ResponseSignal(
            application: "shop",
            identifier: key.identifier,
            requestID: id,
            responseID: .derive(caller: "person", idempotencyKey: "\(number)"),
            device: "phone-0",
            actionIdentifier: action
        )
        if action == ResponseSignal.defaultAction { responses.append((key.recipient, response)) }
        append(.response(response), key.recipient)
    }

    private var unknown: (key: NotificationKey, id: RequestID)? {
        let key = try? NotificationKey(application: "shop", recipient: "user-0", identifier: "nothing")
        return key.map { ($0, .derive(caller: "nobody", idempotencyKey: "\(number)")) }
    }

    private func append(_ signal: Signal, _ recipient: String) {
        guard let key = try? SignalKey.bytes(recipient: recipient) else { return }
        let record = LogRecord(
            timestamp: broker.wall + random.number(-100...100),
            key: key,
            value: signal.json,
            headers: [KafkaHeader(name: SignalType.header, value: Array(signal.type.eventType.utf8))]
        )
        let home = log.home(of: recipient)
        let place = Place(partition: home, offset: broker.append(record, to: topics.signals, home))
        log.text("writes signal \(recipient) \(String(decoding: signal.json, as: UTF8.self)) at \(place)")
        if case .response(let response) = signal { log.note(response, of: recipient, at: place) }
    }
}
