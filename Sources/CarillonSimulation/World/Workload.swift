import Kafka
import NotificationConsumer
import NotificationModel
import NotificationState

/// Writes a seeded workload to `requests`.
final class Workload {
    private let broker: SimulatedBroker
    private let topics: TopicNames
    private let requests: RequestLog
    private var random: SeededGenerator
    /// Of its own, so that what else happens in a run does not depend on calendars; nil for a run without them.
    private var calendars: SeededGenerator?
    /// Likewise of location triggers.
    private var locations: SeededGenerator?
    /// Likewise of the channels that requests name.
    private var channels: SeededGenerator?
    /// Of contents that ask for enrichment; nil without.
    private var enrichments: SeededGenerator?
    private let fixes: FixLog?
    /// Devices and what comes back from them; nil without.
    private let loop: LoopWorkload?
    /// Live Activities; nil without.
    private let activities: ActivityWorkload?
    /// Milliseconds; each fix has another time.
    private var lastFix: Int64 = 0
    /// By recipient and device: the time of its last fix.
    private var located: [String: Int64] = [:]
    private var number = 0
    private let recipients: [String]
    private let identifiers: [String]
    private var versions: [NotificationKey: Int64] = [:]
    /// Keys whose next version must be greater than all earlier ones.
    private var forgottenVersions: Set<NotificationKey> = []
    private let scenario: Scenario
    /// Recent requests, which may be published again.
    private var repeatable: [(record: PublishedRecord, value: [UInt8]?, at: Int64)] = []

    /// For how many milliseconds a record may be repeated. This is less than the retention, with a margin for outages and clocks,
    /// because the outcome of a repeat is not defined after its id was forgotten.
    private var repeatWindow: Int64 { scenario.isCapped ? -1 : scenario.retention / 3 }
    /// Versions are forgotten together with ids.
    private var hasVersions: Bool { !scenario.isCapped && !scenario.forgets }

    init(
        broker: SimulatedBroker,
        topics: TopicNames,
        requests: RequestLog,
        scenario: Scenario,
        random: SeededGenerator,
        calendars: SeededGenerator?,
        locations: SeededGenerator? = nil,
        channels: SeededGenerator? = nil,
        enrichments: SeededGenerator? = nil,
        fixes: FixLog? = nil,
        loop: LoopWorkload? = nil,
        activities: ActivityWorkload? = nil
    ) {
        (self.broker, self.topics, self.requests, self.random) = (broker, topics, requests, random)
        (self.calendars, self.locations, self.fixes) = (calendars, locations, fixes)
        self.channels = channels
        (self.enrichments, self.loop, self.activities) = (enrichments, loop, activities)
        self.scenario = scenario
        filler = Array(repeating: 0x61, count: broker.maximumRecordBytes - 400)
        largeText = String(repeating: "x", count: RecordBound(broker.maximumRecordBytes).content() + 1)
        recipients = (0..<Int(self.random.number(1...4))).map { "user-\($0)" }
        identifiers = (0..<Int(self.random.number(1...4))).map { "id-\($0)" }
        activities?.append = { [unowned self] in append($0, $1, $2, $3) }
    }

    private func key(_ recipient: String, _ identifier: String) -> NotificationKey? {
        try? NotificationKey(application: "shop", recipient: recipient, identifier: identifier)
    }

    // MARK: - Records

    /// Publishes one record of any kind.
    func publish() {
        number += 1
        guard let key = key(random.pick(recipients), random.pick(identifiers)) else { return }
        switch random.index(100) {
        case 0..<55: request(key)
        case 55..<72: remove(key)
        case 72..<75: self.key(random.pick(recipients), "").map(remove)
        case 75..<78: cancelAround(key)
        case 78..<90: again()
        case 90..<95: bad(key)
        default: abandoned(key)
        }
        locate(key.recipient)
        loop?.act(key.recipient)
        activities?.act(key.recipient)
    }

    var hasLoop: Bool { loop != nil }

    // MARK: - Locations

    var hasLocations: Bool { locations != nil }

    /// Publishes fixes of a recipient's devices, sometimes.
    private func locate(_ recipient: String) {
        guard var random = locations, !requests.hasGrown else { return }
        defer { locations = random }
        for _ in 0..<random.pick([0, 0, 1, 1, 2, 4]) {
            let device = random.pick(["phone", "watch"])
            let name = "\(recipient) \(device)"
            let side = random.pick([RegionSide.inside, .inside, .outside, .outside, nil])
            var at = nextFix(random.number(-3_000...3_000))
            // Late, out of order, or again.
            if random.chance(150), let last = located[name] { at = last - random.pick([0, 1, 5_000, 600_000]) }
            // Beyond the tolerance.
            let isBad = random.chance(20)
            if isBad { at = broker.wall + 400 * 86_400_000 } else { located[name] = max(at, located[name] ?? at) }
            append(SimulatedRegion.fix(side, device: device, at: Timestamp(rawValue: at)), recipient, &random)
        }
    }

    private func nextFix(_ error: Int64) -> Int64 {
        lastFix = max(lastFix + 1, broker.wall + error)
        return lastFix
    }

    private func append(_ fix: LocationFix, _ recipient: String, _ random: inout SeededGenerator) {
        guard let fixes, let key = try? SignalKey.bytes(recipient: recipient) else { return }
        var fix = fix
        fix.application = random.chance(500) ? "shop" : nil
        // The partition of another recipient.
        let isAstray = random.chance(50)
        let partition = (fixes.home(of: recipient) + (isAstray ? 1 : 0)) % fixes.partitions
        let type = KafkaHeader(name: SignalType.header, value: Array(SignalType.location.eventType.utf8))
        let record = LogRecord(
            timestamp: broker.wall + random.number(-100...100),
            key: key,
            value: fix.json,
            headers: [type]
        )
        let offset = broker.append(record, to: topics.signals, partition)
        requests.note("writes fix \(recipient) \(String(decoding: fix.json, as: UTF8.self)) at \(partition)/\(offset)")
    }

    /// A device of each recipient is on a side.
    func locateAll(_ side: RegionSide) {
        guard var random = locations else { return }
        defer { locations = random }
        for recipient in recipients {
            let at = Timestamp(rawValue: nextFix(0))
            append(SimulatedRegion.fix(side, device: "car", at: at), recipient, &random)
        }
    }

    /// Removes all notifications of each recipient.
    func removeAll() {
        for recipient in recipients {
            number += 1
            guard let key = key(recipient, "") else { continue }
            let id = RequestID.derive(caller: "end", idempotencyKey: "\(number)")
            append(key, id, "{\"requestId\":\"\(id.text)\",\"remove\":\"all\"}", .removal(.all, version: nil))
        }
    }

    private func request(_ key: NotificationKey) {
        var request = PublishedRecord.Request(content: "{\"title\":\"N \(number)\"}")
        if scenario.bytesPerSecond != nil {
            let body = String(repeating: "x", count: Int(random.number(0...20_000)))
            request.content = "{\"title\":\"N \(number)\",\"body\":\"\(body)\"}"
        }
        request.version = version(of: key)
        switch random.index(10) {
        case 0..<3: break
        case 3..<5: request.collapseWindow = random.number(500...20_000)
        case 5..<8:
            request.interval = random.chance(800) ? random.number(1...120_000) : random.number(1...30 * 86_400_000)
            request.misfire = random.pick([nil, .once, .next, .drop])
            request.jitter = random.chance(300) ? random.number(1...5_000) : 0
        default:
            request.interval =
                random.chance(600) ? random.number(60_000...600_000) : random.number(3_600_000...864_000_000)
            request.repeats = true
            request.misfire = random.pick([nil, .once, .next, .drop])
            request.jitter = random.chance(300) ? random.number(1...30_000) : 0
        }
        let now = broker.timeline.clock.wall
        if random.chance(150) {
            request.expiration = now.adding(milliseconds: random.number(-1_000...200_000))
        } else if request.repeats {
            // Without an expiration it would fire until the end of the simulation.
            request.expiration = now.adding(milliseconds: (request.interval ?? 0) * random.number(2...40))
            if random.chance(300), request.interval ?? 0 >= 21_600_000 { request.expiration = nil }
        }
        if request.interval != nil, var calendars {
            if calendars.chance(250) { makeCalendar(&request, at: now, &calendars) }
            self.calendars = calendars
        }
        if !request.isTimed, request.collapseWindow == 0, var locations {
            if locations.chance(500) { makeRegion(&request, at: now, &locations) }
            self.locations = locations
        }
        if channels?.chance(400) == true { request.channel = .events }
        let id = random.chance(850) ? RequestID.derive(caller: "workload", idempotencyKey: "\(number)") : nil
        loop?.decorate(&request, key, id)
        if enrichments?.chance(500) == true { request.isEnriched = true }
        append(key, id, request.json(id: id), .request(request))
    }

    private func makeRegion(
        _ request: inout PublishedRecord.Request,
        at now: Timestamp,
        _ locations: inout SeededGenerator
    ) {
        request.onEntry = locations.chance(700)
        request.onExit = !request.onEntry || locations.chance(300)
        request.repeats = locations.chance(400)
        // Mostly for long: it must survive restarts.
        if request.expiration == nil, locations.chance(300) {
            request.expiration = now.adding(milliseconds: locations.number(1_000...600_000))
        }
    }

    /// A calendar trigger instead of an interval, mostly soon: the clock is at a given time at most once or twice a day.
    private func makeCalendar(
        _ request: inout PublishedRecord.Request,
        at now: Timestamp,
        _ calendars: inout SeededGenerator
    ) {
        let soon = now.rawValue / 1000 + calendars.number(0...600)
        let local = soon + SimulatedZone.offset(at: soon)
        let isDaily = calendars.chance(600)
        let isSoon = calendars.chance(700)
        request.interval = nil
        request.calendar = SimulatedCalendar(
            hour: isDaily ? (isSoon ? local / 3600 % 24 : calendars.number(0...23)) : nil,
            minute: isSoon ? local / 60 % 60 : calendars.number(0...59),
            gap: calendars.pick([nil, .nextTime, .skip, .previous]),
            overlap: calendars.pick([nil, .first, .last, .both]),
            floats: calendars.chance(300)
        )
        guard request.repeats else { return }
        request.expiration = now.adding(
            milliseconds: (isDaily ? 86_400_000 : 3_600_000) * calendars.number(2...20)
        )
    }

    private func version(of key: NotificationKey) -> Int64? {
        guard random.chance(200), hasVersions else { return nil }
        let newest = versions[key] ?? 0
        let isForgotten = forgottenVersions.remove(key) != nil
        let version = max(0, newest + random.number(isForgotten ? 1...2 : -2...2))
        versions[key] = max(newest, version)
        return version
    }

    private func remove(_ key: NotificationKey) {
        let scope = random.pick(RemovalScope.allCases)
        if random.chance(150) {
            append(key, nil, nil, .removal(.all, version: nil))
            return
        }
        let version = key.isWholeRecipient ? nil : version(of: key)
        let id = random.chance(700) ? RequestID.derive(caller: "removal", idempotencyKey: "\(number)") : nil
        var members = ["\"remove\":\"\(scope.rawValue)\""]
        if let id { members.append("\"requestId\":\"\(id.text)\"") }
        if let version { members.append("\"version\":\(version)") }
        append(key, id, "{\(members.joined(separator: ","))}", .removal(scope, version: version))
    }

    /// A removal that is repeated after a later request, which the repeat must not remove: as from a cancelling and a notifying
    /// rule for the same event, when the event is repeated.
    private func cancelAround(_ key: NotificationKey) {
        let all = self.key(key.recipient, "") ?? key
        let target = random.chance(500) ? key : all
        let id = RequestID.derive(caller: "around", idempotencyKey: "\(number)")
        let scope = random.pick(RemovalScope.allCases)
        let value = "{\"requestId\":\"\(id.text)\",\"remove\":\"\(scope.rawValue)\"}"
        append(target, id, value, .removal(scope, version: nil))
        request(key)
        // If entries are forgotten early, the id of the removal is forgotten with them.
        guard !scenario.isCapped else { return }
        append(target, id, value, .removal(scope, version: nil))
    }

    /// From now on no earlier record is repeated.
    ///
    /// - Parameter onlyNewerVersions: the versions of keys may be forgotten, so later versions must be greater.
    func repeatNothing(onlyNewerVersions: Bool) {
        repeatable = []
        if onlyNewerVersions { forgottenVersions = Set(versions.keys) }
    }

    /// Publishes a record again, as a producer without an answer does, or a program that sends recorded requests.
    private func again() {
        let limit = broker.wall - repeatWindow
        repeatable.removeAll { $0.at < limit }
        guard !repeatable.isEmpty else { return }
        // Mostly a recent record, but also records that have been pending for long.
        let choice = random.pick(random.chance(700) ? Array(repeatable.suffix(8)) : repeatable)
        guard let key = choice.record.key, let id = choice.record.id, isKnown(choice.record, of: key) else { return }
        append(key, id, choice.value, choice.record.content, isRepeat: true)
    }

    /// Whether an entry has not forgotten an id for newer ones, of which each adds one.
    private func isKnown(_ record: PublishedRecord, of key: NotificationKey) -> Bool {
        let newer = requests.published[Int(record.partition)].lazy.filter { other in
            other.offset > record.offset && other.concerns(key)
        }
        return newer.count < StateEntry.maximumKnown * 3 / 4
    }

    private func bad(_ key: NotificationKey) {
        // A record whose recipient gets another partition is misrouted, and needs no second error.
        guard !requests.hasGrown else { return }
        let good = PublishedRecord.Request(content: "{\"title\":\"bad\"}").json(id: nil)
        var (bytes, value, reason): ([UInt8]?, String?, ReasonCode) = (key.encoded, good, .invalid)
        var (partition, timestamp) = (requests.home(of: key), broker.wall)
        var headers: [KafkaHeader] = []
        switch random.index(9) {
        case 0: value = "{\"content\":"
        case 1: bytes = nil
        case 2: bytes = Array("no-slashes".utf8)
        case 3: (value, reason) = ("{\"content\":{\"title\":\"x\"},\"colour\":\"red\"}", .unknownField)
        case 4: (timestamp, reason) = (broker.wall + 400 * 86_400_000, .inFuture)
        // Records of the maximum size.
        case 5: bytes = Array("shop/".utf8) + Array(repeating: 0x61, count: broker.maximumRecordBytes - 150)
        case 6: (value, headers) = ("{", [KafkaHeader(name: "large", value: filler)])
        case 7: (value, reason) = ("{\"content\":{\"body\":\"\(largeText)\"}}", .tooLarge)
        default:
            guard requests.partitions > 1 else { return }
            partition = (partition + 1) % requests.partitions
            reason = .misrouted
        }
        requests.append(
            LogRecord(timestamp: timestamp, key: bytes, value: value.map { Array($0.utf8) }, headers: headers),
            to: partition,
            .bad(reason)
        )
    }

    /// The largest text that fits in a record.
    private let filler: [UInt8]
    /// A text too large for an entry of the changelog, but not for a valid request.
    private let largeText: String

    /// A producer's transaction that is aborted: its records must have no effect.
    private func abandoned(_ key: NotificationKey) {
        let value = PublishedRecord.Request(content: "{\"title\":\"aborted\"}").json(id: nil)
        var record = LogRecord(timestamp: broker.wall, key: key.encoded, value: Array(value.utf8))
        record.isTransactional = true
        let producer = ProducerStamp(id: broker.newProducerID(), epoch: 0)
        record.producer = producer
        let log = broker.log(topics.requests, requests.home(of: key))
        log.append(record)
        broker.timeline.add(after: random.number(1_000...3_000_000)) { [broker] in
            log.endTransaction(of: producer, commit: false, at: broker.wall)
        }
    }

    private func append(
        _ key: NotificationKey,
        _ id: RequestID?,
        _ value: String?,
        _ content: PublishedRecord.Content
    ) {
        append(key, id, value.map { Array($0.utf8) }, content, isRepeat: false)
    }

    private func append(
        _ key: NotificationKey,
        _ id: RequestID?,
        _ value: [UInt8]?,
        _ content: PublishedRecord.Content,
        isRepeat: Bool
    ) {
        // The producer's clock has a small error.
        let timestamp = broker.wall + random.number(-100...100)
        // A trace header that is too long to be valid.
        let trace =
            random.chance(990)
            ? []
            : [
                KafkaHeader(name: "traceparent", text: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
                KafkaHeader(name: "tracestate", value: filler),
            ]
        var content = content
        if case .request(var request) = content, let calendar = request.calendar {
            let anchor = Timestamp(rawValue: timestamp)
            request.occurrences = calendar.occurrences(after: anchor, repeats: request.repeats)
            content = .request(request)
        }
        let record = requests.append(
            LogRecord(timestamp: timestamp, key: key.encoded, value: value, headers: trace),
            to: requests.home(of: key),
            id: id,
            key: key,
            content
        )
        // Only records with an id are recognized as repeats.
        if !isRepeat, id != nil { repeatable.append((record, value, broker.wall)) }
    }
}
