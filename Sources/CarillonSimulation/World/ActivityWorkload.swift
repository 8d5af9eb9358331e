import Foundation
import Kafka
import NotificationModel

/// The Live Activities of the workload's recipients: requests and removals of one identifier of each, and an app on their phones that
/// registers the tokens.
final class ActivityWorkload {
    /// The identifier whose notifications are Live Activities.
    static let identifier = "order"
    private static let type = "Order"
    private static let phones = ["start-0", "start-1"]
    /// The name of a broadcast channel, which is a device of a recipient like the phones.
    private static let channel = "channel-0"

    private let timeline: Timeline
    private let devices: SimulatedDevices
    private let loop: LoopWorkload
    private let log: LoopLog
    private let scenario: Scenario
    private var random: SeededGenerator
    /// For broadcast channels and dates of dismissal, which runs had not from the beginning: the other numbers stay the same.
    private var additions: SeededGenerator
    private let hasChannels: Bool
    private var number = 0
    /// The phones that have registered a token to start activities, and the channels, by their keys, and how often.
    private var installations: [NotificationKey: Int] = [:]
    private var signedOut: Set<NotificationKey> = []
    /// Writes a request or a removal.
    var append: (NotificationKey, RequestID?, String, PublishedRecord.Content) -> Void = { _, _, _, _ in }

    init(
        timeline: Timeline,
        devices: SimulatedDevices,
        loop: LoopWorkload,
        log: LoopLog,
        scenario: Scenario,
        random: SeededGenerator
    ) {
        (self.timeline, self.devices, self.loop, self.log) = (timeline, devices, loop, log)
        (self.scenario, self.random) = (scenario, random)
        var same = random
        additions = same.split()
        hasChannels = additions.chance(500)
        devices.activities.onStart = { [unowned self] in started($0) }
        devices.activities.onEnd = { [unowned self] in tellEnd(of: $0) }
    }

    private var now: Timestamp { timeline.clock.wall }

    private func key(_ recipient: String, _ identifier: String) -> NotificationKey? {
        try? NotificationKey(application: "shop", recipient: recipient, identifier: identifier)
    }

    /// Something that concerns the activities of a recipient, sometimes.
    func act(_ recipient: String) {
        for phone in Self.phones {
            guard let phone = key(recipient, phone) else { continue }
            if installations[phone] == nil || signedOut.contains(phone), random.chance(500) { register(phone) }
        }
        if hasChannels, let channel = key(recipient, Self.channel) {
            if installations[channel] == nil || signedOut.contains(channel) {
                if additions.chance(400) { register(channel) }
            } else if additions.chance(50) {
                signOut(channel)
            }
        }
        guard let key = key(recipient, Self.identifier) else { return }
        for _ in 0..<random.pick([0, 1, 1, 2]) {
            switch random.index(20) {
            case 0..<10: request(key)
            case 10..<15: remove(key)
            case 15, 16: closeOne(key)
            case 17: self.key(recipient, random.pick(Self.phones)).map(register)
            case 18: if random.chance(500) { self.key(recipient, random.pick(Self.phones)).map(signOut) }
            default: break
            }
        }
    }

    // MARK: - Requests and removals

    private func request(_ key: NotificationKey) {
        number += 1
        let dismissalDate =
            additions.chance(300) ? now.adding(milliseconds: additions.number(-600...3_600) * 1_000) : nil
        let date = dismissalDate.map { ",\"dismissalDate\":\"\($0)\"" } ?? ""
        let state = "\"contentState\":{\"n\":\(number)}\(date)"
        var request = PublishedRecord.Request(content: "{\"liveActivity\":{\(state)}}")
        if random.chance(700) {
            let attributes = "\"attributesType\":\"\(Self.type)\",\"attributes\":{}"
            request.content = "{\"title\":\"A\",\"body\":\"B\",\"liveActivity\":{\(attributes),\(state)}}"
        }
        request.isActivity = true
        request.dismissalDate = dismissalDate
        request.version = version()
        switch random.index(10) {
        case 0: request.collapseWindow = random.number(500...20_000)
        case 1:
            request.interval = random.number(1...60_000)
            request.misfire = random.pick([nil, .once, .next, .drop])
        case 2:
            request.interval = random.number(60_000...600_000)
            request.repeats = true
            request.expiration = now.adding(milliseconds: (request.interval ?? 0) * random.number(2...10))
        default: break
        }
        if random.chance(100) { request.expiration = now.adding(milliseconds: random.number(1_000...600_000)) }
        let id = RequestID.derive(caller: "activities", idempotencyKey: "\(number)")
        append(key, id, request.json(id: id), .request(request))
    }

    private func remove(_ key: NotificationKey) {
        number += 1
        let id = RequestID.derive(caller: "ends", idempotencyKey: "\(number)")
        let scope = random.pick([RemovalScope.all, .delivered, .delivered, .pending])
        let version = version()
        let member = version.map { ",\"version\":\($0)" } ?? ""
        let value = "{\"remove\":\"\(scope.rawValue)\",\"requestId\":\"\(id.text)\"\(member)}"
        append(key, id, value, .removal(scope, version: version))
    }

    /// Seconds, as the timestamps of pushes; some are older than what was sent.
    private func version() -> Int64? {
        guard !scenario.forgets, random.chance(200) else { return nil }
        return now.rawValue / 1000 + random.number(-5...0)
    }

    // MARK: - Phones

    /// A token to start activities.
    static func start(on name: String) -> DeviceRegistration? {
        var registration = try? DeviceRegistration(
            platform: "apns",
            token: SimulatedActivities.token(name),
            kind: .liveActivityStart
        )
        registration?.liveActivity = .start(attributesType: type)
        return registration
    }

    /// A broadcast channel; its id is the name in Base64.
    private static func channel(_ name: String) -> DeviceRegistration? {
        try? DeviceRegistration(platform: "apns", token: Data(name.utf8).base64EncodedString(), kind: .broadcastChannel)
    }

    /// Whether a channel is the recipient's.
    static func isChannel(_ token: String, of recipient: String) -> Bool {
        Data(base64Encoded: token).map { String(decoding: $0, as: UTF8.self).hasSuffix(" \(recipient) \(channel)") }
            ?? false
    }

    /// The app registers the token to start activities, or the channel, sometimes a new one.
    private func register(_ phone: NotificationKey) {
        let isChannel = phone.identifier == Self.channel
        let isNew = isChannel ? additions.chance(300) : random.chance(300)
        let installation = (installations[phone] ?? 0) + (isNew ? 1 : 0)
        installations[phone] = installation
        signedOut.remove(phone)
        let name = "\(installation) \(phone.recipient) \(phone.identifier)"
        guard var registration = isChannel ? Self.channel(name) : Self.start(on: name) else { return }
        registration.registeredAt = now
        devices.activities.gone.remove(registration.token)
        log.note(device: phone.identifier, of: phone.recipient, isAuthorized: true)
        loop.appendDevice(phone.identifier, phone.recipient, registration.json)
    }

    /// The app ends its activities and its registrations.
    private func signOut(_ phone: NotificationKey) {
        guard installations[phone] != nil, signedOut.insert(phone).inserted,
            let key = key(phone.recipient, Self.identifier)
        else { return }
        for number in devices.activities.running(key, on: phone.identifier) { end(number) }
        loop.appendDevice(phone.identifier, phone.recipient, nil)
    }

    /// A person closes what a phone shows.
    private func closeOne(_ key: NotificationKey) {
        guard let number = devices.activities.running(key, on: random.pick(Self.phones)).last else { return }
        end(number)
    }

    private func end(_ number: Int) {
        devices.endActivity(number)
        tellEnd(of: number)
    }

    /// The app follows the activity soon, late or never.
    private func started(_ number: Int) {
        let time: Int64
        switch random.index(100) {
        case 0..<70: time = random.number(50_000...3_000_000)
        case 70..<90: time = random.number(3_000_000...120_000_000)
        case 90..<96: time = random.number(120_000_000...7_200_000_000)
        default: return
        }
        timeline.add(after: time) { [self] in follow(number) }
    }

    private func follow(_ number: Int) {
        let activity = devices.activities.all[number]
        guard activity.end == nil, let phone = key(activity.key.recipient, activity.phone) else { return }
        guard !signedOut.contains(phone) else { return devices.endActivity(number) }
        let running = devices.activities.running(activity.key, on: activity.phone)
        // A start that was repeated: the newest stays.
        for other in running where other < running.last ?? 0 { end(other) }
        guard number == running.last else { return }
        register(number)
        if random.chance(150) {
            timeline.add(after: random.number(100_000...600_000_000)) { [self] in
                guard devices.activities.all[number].end == nil else { return }
                _ = devices.activities.addToken(to: number)
                register(number)
            }
        }
    }

    /// The app registers the newest token of an activity.
    private func register(_ number: Int) {
        let activity = devices.activities.all[number]
        guard let token = activity.tokens.last,
            var registration = try? DeviceRegistration(platform: "apns", token: token, kind: .liveActivity)
        else { return }
        registration.liveActivity = .activity(identifier: activity.key.identifier, pushToStart: activity.phone)
        registration.registeredAt = now
        devices.activities.noteRegistered(number)
        loop.appendDevice(devices.activities.name(of: number), activity.key.recipient, registration.json)
    }

    /// The app tells that an activity is over, mostly.
    private func tellEnd(of number: Int) {
        guard devices.activities.all[number].isRegistered, random.chance(850) else { return }
        timeline.add(after: random.number(1_000...20_000_000)) { [self] in
            loop.appendDevice(devices.activities.name(of: number), devices.activities.all[number].key.recipient, nil)
        }
    }
}
