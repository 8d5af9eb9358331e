import Kafka
import Logging
import NotificationModel
import Testing

@testable import NotificationConsumer

let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

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
    _ plan: NotificationCenter.Plan = .immediate(collapseWindow: 0),
    expiration: Timestamp? = nil
) -> PartitionCenter.Input {
    .request(
        .init(
            id: id(name),
            key: key,
            offset: 0,
            version: version,
            content: content,
            plan: plan,
            expiration: expiration,
            trace: .none,
            timestamp: at(0)
        )
    )
}

/// The same for the usual key.
func request(
    _ name: String,
    version: Int64? = nil,
    _ plan: NotificationCenter.Plan,
    expiration: Timestamp? = nil
) -> PartitionCenter.Input {
    request(name, key("order"), version: version, plan, expiration: expiration)
}

func interval(
    _ seconds: Double,
    repeats: Bool = false,
    from anchor: Timestamp = at(0),
    misfire: MisfirePolicy? = nil,
    jitter: Double = 0
) -> NotificationCenter.Plan {
    .interval(
        IntervalSchedule(
            .init(timeInterval: seconds, repeats: repeats, misfire: misfire, jitter: jitter),
            anchor: anchor
        )
    )
}

func removal(
    _ name: String,
    _ key: NotificationKey = key("order"),
    _ scope: RemovalScope = .all,
    version: Int64? = nil,
    at timestamp: Timestamp = at(0)
) -> PartitionCenter.Input {
    .removal(
        .init(id: id(name), key: key, offset: 0, scope: scope, version: version, trace: .none, timestamp: timestamp)
    )
}

/// A centre whose events are collected, on a clock that the test moves. Its inputs come from one log, in order.
struct Bench {
    var center: PartitionCenter
    var store = MemoryEntryStore()
    var events: [DeliveryEvent] = []
    var sends: [ChannelSend] = []
    var outcomes: [NotificationCenter.Outcome] = []
    /// Of the next input.
    var offset: Int64 = 0

    init(_ rules: NotificationCenter? = nil, limits: PartitionCenter.Limits = .init()) {
        let rules = rules ?? NotificationCenter(retention: limits.retention)
        // swift-format-ignore: NeverUseForceTry
        center = try! PartitionCenter(rules: rules, limits: limits, store: store, at: at(0))
    }

    /// One that takes over what another one has committed.
    init(over store: MemoryEntryStore, limits: PartitionCenter.Limits = .init(), firedThrough: Timestamp = at(0)) {
        self.init(limits: limits)
        self.store = store
        // swift-format-ignore: NeverUseForceTry
        center = try! PartitionCenter(
            rules: NotificationCenter(retention: limits.retention),
            limits: limits,
            store: store,
            firedThrough: firedThrough,
            at: at(0)
        )
    }

    /// Applies an input and returns the events it caused.
    @discardableResult
    mutating func apply(_ input: PartitionCenter.Input, _ milliseconds: Int64 = 0) -> [DeliveryEvent] {
        var effects = NotificationCenter.Effects()
        // swift-format-ignore: NeverUseForceTry
        outcomes.append(try! center.apply(input.placed(at: offset), at: at(milliseconds), effects: &effects))
        offset += 1
        return take(effects)
    }

    /// Goes on with a removal in pieces, one piece.
    @discardableResult
    mutating func proceed(_ milliseconds: Int64 = 0) -> [DeliveryEvent] {
        var effects = NotificationCenter.Effects()
        // swift-format-ignore: NeverUseForceTry
        outcomes.append(try! center.proceed(at: at(milliseconds), effects: &effects))
        return take(effects)
    }

    /// Fires what is due and returns the events.
    @discardableResult
    mutating func fire(_ milliseconds: Int64) -> [DeliveryEvent] {
        var effects = NotificationCenter.Effects()
        _ = center.fireDue(at: at(milliseconds), limit: .max, effects: &effects)
        return take(effects)
    }

    /// Lets the channel answer the newest send.
    @discardableResult
    mutating func answer(_ result: ChannelOutcome.Result, _ milliseconds: Int64 = 0) throws -> [DeliveryEvent] {
        var effects = NotificationCenter.Effects()
        let send = try #require(sends.last)
        let isCurrent = try center.apply(
            ChannelOutcome(send: send, result: result),
            at: at(milliseconds),
            effects: &effects
        )
        #expect(isCurrent)
        return take(effects)
    }

    /// Cuts, and hands the store what a checkpoint commits.
    mutating func commit() throws {
        let position = StorePosition(lineage: "test", offset: 1, writtenAt: at(0))
        try center.settle(center.cut(at: at(0), all: true), position: position)
    }

    private mutating func take(_ effects: NotificationCenter.Effects) -> [DeliveryEvent] {
        events += effects.events.map(\.event)
        sends += effects.sends
        return effects.events.map(\.event)
    }

    func entry(_ key: NotificationKey) -> StateEntry? {
        // swift-format-ignore: NeverUseForceTry
        try! center.entry(of: key)
    }
}

extension PartitionCenter.Input {
    func written(at timestamp: Timestamp) -> Self {
        switch self {
        case .request(var request):
            request.timestamp = timestamp
            return .request(request)
        case .removal(var removal):
            removal.timestamp = timestamp
            return .removal(removal)
        }
    }

    func placed(at offset: Int64) -> Self {
        switch self {
        case .request(var request):
            request.offset = offset
            return .request(request)
        case .removal(var removal):
            removal.offset = offset
            return .removal(removal)
        }
    }
}

extension [DeliveryEvent] {
    /// `name id` of each, with `!` where it closes.
    var summary: [String] { map { "\($0.name.rawValue) \($0.requestID)\($0.closes ? "!" : "")" } }
}

// As much room as there is.
extension PartitionCenter {
    mutating func cut(at now: Timestamp, all: Bool = false) -> [StoreChange] {
        var room = Int.max
        return cut(at: now, all: all, room: &room)
    }
}

extension OwnedPartition {
    mutating func takeCut(
        requests: String,
        partitions: Int32,
        timeZoneDataVersion: String,
        at now: Timestamp,
        all: Bool
    ) -> Int64 {
        var room = Int.max
        return takeCut(
            requests: requests,
            partitions: partitions,
            timeZoneDataVersion: timeZoneDataVersion,
            at: now,
            all: all,
            room: &room
        )
    }
}

extension WorkingSet {
    mutating func cut(
        patience: Timestamp,
        maximumLazy: Int,
        _ body: (Slot, NotificationKey, StateEntry, _ isLogged: Bool) -> Void
    ) {
        var room = Int.max
        cut(patience: patience, maximumLazy: maximumLazy, room: &room) {
            body($0, $1, $2, $3)
            return 0
        }
    }
}
