import Kafka
import Logging
import NotificationDelivery
import NotificationModel
import NotificationState
import Testing

@testable import NotificationConsumer

/// Milliseconds on the tests' clock.
func at(_ milliseconds: Int64) -> Timestamp { Timestamp(rawValue: 1_800_000_000_000 + milliseconds) }

func key(_ identifier: String, recipient: String = "ana", application: String = "shop") -> NotificationKey {
    // swift-format-ignore: NeverUseForceTry
    try! NotificationKey(application: application, recipient: recipient, identifier: identifier)
}

func id(_ text: String) -> RequestID {
    // swift-format-ignore: NeverUseForceTry
    try! RequestID(text: text)
}

let content = Array(#"{"title":"T"}"#.utf8)[...]

func request(
    _ name: String,
    _ key: NotificationKey = key("order"),
    version: Int64? = nil,
    _ plan: CenterInput.Plan = .immediate(collapseWindow: 0),
    expiration: Timestamp? = nil,
    channel: ChannelName? = nil,
    content: ArraySlice<UInt8> = content
) -> CenterInput {
    .request(
        .init(
            id: id(name),
            key: key,
            position: .init(.requests, offset: 0),
            version: version,
            content: content,
            plan: plan,
            expiration: expiration,
            channel: channel,
            trace: .none,
            timestamp: at(0)
        )
    )
}

/// The same for the usual key.
func request(
    _ name: String,
    version: Int64? = nil,
    _ plan: CenterInput.Plan,
    expiration: Timestamp? = nil,
    channel: ChannelName? = nil
) -> CenterInput {
    request(name, key("order"), version: version, plan, expiration: expiration, channel: channel)
}

func interval(
    _ seconds: Double,
    repeats: Bool = false,
    from anchor: Timestamp = at(0),
    misfire: MisfirePolicy? = nil,
    jitter: Double = 0
) -> CenterInput.Plan {
    .scheduled(
        .interval(
            .init(
                interval: Int64((seconds * 1000).rounded(.up)),
                anchor: anchor,
                repeats: repeats,
                misfire: misfire,
                jitter: Int64((jitter * 1000).rounded(.up))
            )
        )
    )
}

func removal(
    _ name: String,
    _ key: NotificationKey = key("order"),
    _ scope: RemovalScope = .all,
    version: Int64? = nil,
    at timestamp: Timestamp = at(0)
) -> CenterInput {
    .removal(
        .init(
            id: id(name),
            key: key,
            position: .init(.requests, offset: 0),
            scope: scope,
            version: version,
            trace: .none,
            timestamp: timestamp
        )
    )
}

/// The system's time zones.
// swift-format-ignore: NeverUseForceTry
let zones = try! TimeZones.system()

/// A center whose events are collected, on a clock that the test moves. Its inputs come from one log, in order.
struct Bench {
    var center: PartitionCenter
    var store = MemoryEntryStore()
    var events: [DeliveryEvent] = []
    var sends: [ChannelSend] = []
    /// Sends that must not begin any more.
    var withdrawn: [UUIDValue] = []
    /// Enrichments that began.
    var enrichments: [EnrichmentWork] = []
    /// The requests whose enrichment is not needed any more.
    var stopped: [RequestID] = []
    var outcomes: [CenterInput.Outcome] = []
    var responses: [ResponseEvent] = []
    var devices: [DeviceEvent] = []
    var claims: [(token: String, claim: TokenClaim)] = []
    var signals: [(recipient: String, signal: Signal)] = []
    /// The spans of triggers that fired.
    var firings: [Firing] = []
    /// The spans that responses answer.
    var answered: [SpanContext] = []
    /// Of the next input.
    var offset: Int64 = 0
    /// Of the topic.
    var life: Int64 = 0

    init(_ rules: LifecycleRules? = nil, limits: PartitionCenter.Limits = .init()) {
        let rules = rules ?? LifecycleRules(retention: limits.retention)
        // swift-format-ignore: NeverUseForceTry
        center = try! PartitionCenter(rules: rules, limits: limits, store: store, zones: zones.database, at: at(0))
    }

    /// Takes over the committed state of another center.
    init(
        _ rules: LifecycleRules? = nil,
        over store: MemoryEntryStore,
        limits: PartitionCenter.Limits = .init(),
        firedThrough: Timestamp = at(0)
    ) {
        let rules = rules ?? LifecycleRules(retention: limits.retention)
        self.init(rules, limits: limits)
        self.store = store
        // swift-format-ignore: NeverUseForceTry
        center = try! PartitionCenter(
            rules: rules,
            limits: limits,
            store: store,
            zones: zones.database,
            firedThrough: firedThrough,
            at: at(0)
        )
    }

    /// Applies an input and returns its events.
    @discardableResult
    mutating func apply(_ input: CenterInput, _ milliseconds: Int64 = 0) -> [DeliveryEvent] {
        // swift-format-ignore: NeverUseForceTry
        outcomes.append(try! center.apply(input.placed(at: offset, life: life), at: at(milliseconds)))
        offset += 1
        return take()
    }

    /// Applies the next piece of a removal.
    @discardableResult
    mutating func proceed(_ milliseconds: Int64 = 0) -> [DeliveryEvent] {
        // swift-format-ignore: NeverUseForceTry
        outcomes.append(try! center.proceed(at: at(milliseconds)))
        return take()
    }

    /// Fires due timers and returns the events.
    @discardableResult
    mutating func fire(_ milliseconds: Int64) -> [DeliveryEvent] {
        // swift-format-ignore: NeverUseForceTry
        _ = try! center.fireDue(at: at(milliseconds), limit: .max)
        return take()
    }

    /// Lets the channel answer the newest send.
    @discardableResult
    mutating func answer(
        _ result: ChannelResult,
        _ milliseconds: Int64 = 0,
        number: Int? = nil
    ) throws -> [DeliveryEvent] {
        let send = try #require(number.map { sends[$0] } ?? sends.last)
        let isCurrent = try center.apply(result, to: send, at: at(milliseconds))
        #expect(isCurrent)
        return take()
    }

    /// Ends the newest enrichment.
    ///
    /// - Returns: the events; nil when nothing waits for the result.
    @discardableResult
    mutating func enrich(
        _ verdict: EnrichedContent.Verdict,
        _ milliseconds: Int64 = 0,
        number: Int? = nil
    ) throws -> [DeliveryEvent]? {
        let work = try #require(number.map { enrichments[$0] } ?? enrichments.last)
        let result = EnrichedContent(verdict, report: Array(#"{"milliseconds":5}"#.utf8)[...])
        guard try center.apply(result, to: work, at: at(milliseconds)) else { return nil }
        return take()
    }

    /// Makes a cut, and passes the committed changes to the store.
    mutating func commit() throws {
        let position = StorePosition(lineage: "test", offset: 1, writtenAt: at(0))
        try center.noteCommitted(center.cut(at: at(0), all: true), position: position)
    }

    private mutating func take() -> [DeliveryEvent] {
        let taken = center.takeEffects()
        events += taken.events
        sends += taken.sends
        withdrawn += taken.withdrawn
        enrichments += taken.enrichments
        stopped += taken.stopped
        responses += taken.responses
        devices += taken.devices
        claims += taken.claims
        signals += taken.signals
        firings += taken.firings
        answered += taken.answered
        return taken.events
    }

    func entry(_ key: NotificationKey) -> StateEntry? {
        // swift-format-ignore: NeverUseForceTry
        try! center.entry(of: key)
    }

    mutating func recipient(_ key: NotificationKey) -> RecipientRecord? {
        // swift-format-ignore: NeverUseForceTry
        try! center.recipient(of: key)
    }
}

struct TakenEffects {
    var events: [DeliveryEvent] = []
    var sends: [ChannelSend] = []
    var withdrawn: [UUIDValue] = []
    var enrichments: [EnrichmentWork] = []
    var stopped: [RequestID] = []
    var responses: [ResponseEvent] = []
    var devices: [DeviceEvent] = []
    var claims: [(token: String, claim: TokenClaim)] = []
    var signals: [(recipient: String, signal: Signal)] = []
    var firings: [Firing] = []
    var answered: [SpanContext] = []
}

extension PartitionCenter {
    /// The effects of turns since the last call; sends as a lane passes them to a channel.
    mutating func takeEffects() -> TakenEffects {
        var effects: [Effect] = []
        exchangeEffects(with: &effects)
        var taken = TakenEffects()
        for effect in effects {
            switch effect {
            case .publish(var event, _):
                // swift-format-ignore: NeverUseForceTry
                try! count(&event)
                taken.events.append(event)
            case .send(let attempt): taken.sends.append(attempt)
            case .withdraw(let id, _): taken.withdrawn.append(id)
            case .enrich(let request): taken.enrichments.append(request)
            case .stopEnrichment(let id, _): taken.stopped.append(id)
            case .respond(let event, _): taken.responses.append(event)
            case .announce(let event, _): taken.devices.append(event)
            case .claim(let claim, let token, _): taken.claims.append((token, claim))
            case .signal(let signal, let recipient, _): taken.signals.append((recipient, signal))
            case .fire(let firing): taken.firings.append(firing)
            case .answer(let delivery): taken.answered.append(delivery)
            }
        }
        return taken
    }
}

extension CenterInput.Request {
    /// The same request with other members.
    func with(
        key: NotificationKey? = nil,
        position: CenterInput.Position? = nil,
        content: ArraySlice<UInt8>? = nil,
        timestamp: Timestamp? = nil,
        isEnriched: Bool? = nil,
        limits: DeliveryLimits? = nil
    ) -> CenterInput.Request {
        .init(
            id: id,
            key: key ?? self.key,
            position: position ?? self.position,
            version: version,
            content: content ?? self.content,
            facts: facts,
            plan: plan,
            expiration: expiration,
            channel: channel,
            trace: trace,
            timestamp: timestamp ?? self.timestamp,
            isEnriched: isEnriched ?? self.isEnriched,
            limits: limits ?? self.limits
        )
    }
}

extension CenterInput {
    func written(at timestamp: Timestamp) -> Self {
        switch self {
        case .request(let request): return .request(request.with(timestamp: timestamp))
        case .removal(var removal):
            removal.timestamp = timestamp
            return .removal(removal)
        case .fix(var fix):
            fix.timestamp = timestamp
            return .fix(fix)
        case .signal(var signal):
            signal.timestamp = timestamp
            return .signal(signal)
        case .registration(var registration):
            registration.timestamp = timestamp
            return .registration(registration)
        case .claim: return self
        }
    }

    func placed(at offset: Int64, life: Int64 = 0) -> Self {
        switch self {
        case .request(let request):
            return .request(request.with(position: .init(.requests, offset: offset, life: life)))
        case .removal(var removal):
            removal.position = .init(.requests, offset: offset, life: life)
            return .removal(removal)
        case .fix(var fix):
            fix.position = .init(.signals, offset: offset, life: life)
            return .fix(fix)
        case .signal(var signal):
            signal.position = .init(.signals, offset: offset, life: life)
            return .signal(signal)
        case .registration(var registration):
            registration.position = .init(.devices, offset: offset, life: life)
            return .registration(registration)
        case .claim(var claim):
            claim.position = .init(.tokens, offset: offset, life: life)
            return .claim(claim)
        }
    }
}

extension StateEntry {
    /// When it has work, where each key's operations follow each other.
    var due: Timestamp? { due { _ in .all } }
}

extension [DeliveryEvent] {
    /// `name id` of each event, with `!` if it closes its request.
    var summary: [String] { map { "\($0.name.rawValue) \($0.requestID)\($0.closes ? "!" : "")" } }
}

// Without a limit on the room.
extension PartitionCenter {
    mutating func cut(at now: Timestamp, all: Bool = false) -> [StoreChange] {
        var room = Int.max
        return cut(at: now, all: all, room: &room)
    }
}

extension PerInput<InputProgress> {
    /// Every input at the position.
    static func at(_ position: Int64) -> Self { Self { _ in InputProgress(position: position, life: 0) } }
}

extension OwnedPartition {
    func takeCut(
        topics: TopicNames,
        partitions: Int32,
        timeZoneDataVersion: String,
        at now: Timestamp,
        all: Bool
    ) -> PerInput<InputProgress> {
        var room = Int.max
        return takeCut(
            topics: topics,
            partitions: partitions,
            timeZoneDataVersion: timeZoneDataVersion,
            at: now,
            all: all,
            room: &room
        )
    }
}

extension WorkingSet {
    init() { self.init { _ in .all } }

    mutating func insert(
        _ key: NotificationKey,
        at now: Timestamp,
        from cause: Cause = .clock,
        _ change: (inout StateEntry) -> (Void, changed: Bool)
    ) {
        var entry = StateEntry()
        if change(&entry).changed { insert(key, &entry, at: now, .init(cause: cause)) }
    }

    mutating func update(
        _ slot: Slot,
        at now: Timestamp,
        _ change: (inout StateEntry) -> (Void, changed: Bool)
    ) {
        update(slot, at: now, from: .clock, change)
    }

    mutating func cut(
        patience: Timestamp,
        maximumLazy: Int,
        _ body: (Slot, NotificationKey, StateEntry, _ isLogged: Bool) -> Void
    ) {
        var room = Int.max
        cut(patience: patience, maximumLazy: maximumLazy, room: &room) {
            body($0, $1, $2, $3.contains(.logged))
            return 0
        }
    }
}
