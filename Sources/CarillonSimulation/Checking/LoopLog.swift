import Kafka
import NotificationModel

/// What came back from devices, and what must come of it; digests, caps and badges. It shares no code with the center, and does
/// not know when a signal was applied: across topics the order is best effort.
final class LoopLog {
    private let broker: SimulatedBroker
    private let topics: TopicNames
    private let isExactlyOnce: Bool
    private let partitions: Int32
    /// Writes to the trace.
    var text: (String) -> Void = { _ in }
    /// A person has answered a notification on a device.
    var onAnswer: (ResponseSignal, _ recipient: String) -> Void = { _, _ in }
    /// The app is gone from a device, and what it showed; the key is the device's.
    var onGone: (NotificationKey) -> Void = { _ in }
    /// A device had to make room for others; the key is the device's.
    var onCapped: (NotificationKey) -> Void = { _ in }
    /// Its app has taken a device back; the key is the device's.
    var onLeft: (NotificationKey) -> Void = { _ in }

    /// By recipient: the devices that were ever registered, and whether one was not authorized.
    private var devices: [String: Set<String>] = [:]
    private var unauthorized: Set<String> = []
    private var gone: Set<NotificationKey> = []
    /// By response id: where it was written.
    private var responses: [RequestID: [Place]] = [:]
    private var responseAt: [Place: RequestID] = [:]
    /// The requests that they answer, without those whose answer explained a delivery.
    private var requestsWithAnswer: Set<RequestID> = []
    /// How often each came out, and was refused.
    private var answered: [RequestID: Int] = [:]
    private var refused: [Place: Int] = [:]
    private var positions: [Int64]
    /// Digests that members were merged into.
    private var digests: Set<RequestID> = []
    /// What the watch of a recipient showed, and what each notification adds: a digest adds what its members would.
    private var badges: [String: [(shown: Int64, increment: Int64)]] = [:]
    private var capped: [String: [Timestamp]] = [:]
    /// How many responses came out in all.
    private(set) var answers = 0

    init(broker: SimulatedBroker, topics: TopicNames, isExactlyOnce: Bool) {
        (self.broker, self.topics, self.isExactlyOnce) = (broker, topics, isExactlyOnce)
        partitions = broker.partitionCount(of: topics.signals)
        positions = Array(repeating: 0, count: Int(broker.partitionCount(of: topics.responses)))
    }

    func home(of recipient: String) -> Int32 {
        KafkaPartitioner.partition(forKey: Array(recipient.utf8), count: partitions)
    }

    // MARK: - What is published

    func note(device: String, of recipient: String, isAuthorized: Bool) {
        devices[recipient, default: []].insert(device)
        if !isAuthorized { unauthorized.insert(recipient) }
    }

    func note(_ response: ResponseSignal, of recipient: String, at place: Place) {
        onAnswer(response, recipient)
        responses[response.responseID, default: []].append(place)
        responseAt[place] = response.responseID
        requestsWithAnswer.insert(response.requestID)
    }

    // MARK: - What comes out

    /// Whether it is the id of a response that was given.
    func isResponse(_ id: RequestID) -> Bool { responses[id] != nil }

    /// Reads the responses that were committed since the last call.
    func follow() throws(Violation) {
        for partition in positions.indices {
            let log = broker.log(topics.responses, Int32(partition))
            guard positions[partition] < log.lastStable else { continue }
            let (records, position) = log.read(from: positions[partition], committed: true)
            positions[partition] = position
            for record in records { try take(response: record) }
        }
    }

    private func take(response record: LogRecord) throws(Violation) {
        let event: ResponseEvent
        do throws(ModelError) {
            event = try ResponseEvent(json: record.value ?? [])
        } catch {
            throw Violation(.response, "a response that cannot be read: \(error.detail)")
        }
        text("sees response \(event.responseID.text.prefix(8)) matched \(event.matched)")
        guard responses[event.responseID] != nil else {
            throw Violation(.response, "\(event.responseID.text) was never given")
        }
        answered[event.responseID, default: 0] += 1
        answers += 1
        guard !isExactlyOnce || answered[event.responseID] == 1 else {
            throw Violation(.response, "\(event.responseID.text.prefix(8)) comes out again")
        }
    }

    /// Reads what happened to a device.
    func take(deviceEvent json: [UInt8], _ name: DeviceEvent.Name) throws(Violation) {
        let event: DeviceEvent
        do throws(ModelError) {
            event = try DeviceEvent(json: json, name: name)
        } catch {
            throw Violation(.addressee, "a device event that cannot be read: \(error.detail)")
        }
        text("sees device.\(name.rawValue) \(event.key.text) \(event.reason?.rawValue ?? "")")
        guard name == .retired else { return }
        switch event.reason {
        // In all but the last case the app is still there.
        case .moved?: break
        case .capped?: onCapped(event.key)
        case nil: onLeft(event.key)
        case _?:
            gone.insert(event.key)
            onGone(event.key)
        }
    }

    /// Whether a device of a notification's recipient was ever registered.
    func hasDevices(of key: NotificationKey) -> Bool { devices[key.recipient] != nil }

    /// Whether the device that no channel reaches was ever registered for a notification's recipient.
    func hasUnreached(of key: NotificationKey) -> Bool {
        devices[key.recipient]?.contains(LoopWorkload.unreached) ?? false
    }

    /// Whether the app was gone at some time from a device of a notification's recipient, and with it what it showed.
    func wasGone(_ device: String, of key: NotificationKey) -> Bool {
        gone.contains { $0.isSameRecipient(as: key) && $0.identifier == device }
    }

    /// - Returns: whether the dead letter is that of a response.
    func take(deadLetter place: Place, _ reason: String) throws(Violation) -> Bool {
        guard let id = responseAt[place] else { return false }
        refused[place, default: 0] += 1
        guard reason == ReasonCode.unknownAction.rawValue, refused[place] == 1 || !isExactlyOnce else {
            throw Violation(.response, "\(id.text.prefix(8)) at \(place) is refused: \(reason)")
        }
        return true
    }

    /// A response that neither came out nor was refused.
    var unanswered: String? {
        let id = responses.keys.filter { answered[$0] == nil && responses[$0]?.contains { refused[$0] != nil } != true }
            .min { $0.text < $1.text }
        return id.map { "the response \($0.text.prefix(8)) has not come out" }
    }

    // MARK: - Deliveries

    static func isDigest(_ key: NotificationKey) -> Bool { key.identifier.hasPrefix("digest:") }

    /// Checks an event of a run with devices.
    ///
    /// - Parameter request: nil for a digest.
    func check(
        _ observed: ObservedEvent,
        of request: PublishedRecord.Request?,
        usesChannel: Bool,
        areClocksRight: Bool
    ) throws(Violation) {
        let event = observed.event
        if event.name == .digested, let into = event.into { digests.insert(into) }
        guard event.name == .delivered else { return }
        try checkDevices(observed)
        guard let limits = request?.limits, !event.inDoubt, !usesChannel else { return }
        if limits.isQuiet(at: observed.time) {
            // Without transactions an answer to what an earlier owner may have published says that it was shown.
            guard !isExactlyOnce, requestsWithAnswer.remove(event.requestID) != nil else {
                throw Violation(.quiet, observed.text)
            }
        }
        guard isExactlyOnce, areClocksRight, limits.isCapped, !limits.isCritical else { return }
        let name = "\(event.key.recipient) \(request?.content.contains("categoryIdentifier") ?? false)"
        // Decided some seconds before the event, and before the enrichment.
        let decided = observed.time.adding(milliseconds: -5_000 - (request?.enrichmentTime ?? 0) / 1000)
        let since = observed.time.adding(milliseconds: -SimulatedLimits.capPeriod)
        let recent = (capped[name] ?? []).filter { $0 > since && $0 <= observed.time }
        guard recent.count < SimulatedLimits.capCount else {
            throw Violation(.cap, "\(observed.text), after \(recent.count) others")
        }
        capped[name] = recent + [decided]
    }

    private func checkDevices(_ observed: ObservedEvent) throws(Violation) {
        guard let bytes = observed.event.devices else { return }
        guard let list = try? JSONValue.parse(Array(bytes)).arrayValue else {
            throw Violation(.content, "\(observed.text): its devices cannot be read")
        }
        for device in list {
            func member(_ name: String) -> JSONValue? { device.objectValue?.first { $0.name == name }?.value }
            let name = member("device")?.stringValue ?? ""
            let recipient = observed.event.key.recipient
            guard devices[recipient]?.contains(name) == true else {
                throw Violation(.addressee, "\(observed.text) names \(name), which was never registered")
            }
            guard name == LoopWorkload.watch, let badge = member("badge")?.integerValue else { continue }
            let increment = observed.event.content.map { ContentFacts($0).badgeIncrement } ?? 0
            badges[recipient, default: []].append((badge, increment))
        }
    }

    /// Why no device may have shown a notification; nil where one may have been without permission.
    func objection(toSuppressing event: DeliveryEvent) -> String? {
        let recipient = event.key.recipient
        switch event.reason {
        case .notAuthorized: return unauthorized.contains(recipient) ? nil : "every device was authorized"
        // All devices that it had may be gone.
        case .disabled, .noDevice: return devices[recipient] == nil ? "no device was registered" : nil
        default: return "\(event.reason?.rawValue ?? "no reason") needs a limit"
        }
    }

    // MARK: - At rest

    /// - Parameter usesChannel: sends may be tried again, and their events are later than their badges.
    func check(_ closings: [RequestID: [Int]], usesChannel: Bool) throws(Violation) {
        for id in digests.sorted(by: { $0.text < $1.text }) {
            let count = closings[id]?.count ?? 0
            guard count > 0, count == 1 || !isExactlyOnce else {
                throw Violation(.digest, "\(id.text.prefix(8)) is closed \(count) times")
            }
        }
        guard isExactlyOnce, !usesChannel else { return }
        for (recipient, shown) in badges.sorted(by: { $0.key < $1.key }) {
            // Those of different identifiers may be read in another order.
            var sum: Int64 = 0
            for (badge, increment) in shown.sorted(by: { $0.shown < $1.shown }) {
                sum += increment
                guard badge == sum else {
                    let text = "the watch of \(recipient) shows \(shown.map(\.shown)), \(badge) in place of \(sum)"
                    throw Violation(.badge, text)
                }
            }
        }
    }
}
