import Kafka
import Logging
import NotificationModel

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
            version: version,
            content: content,
            plan: plan,
            expiration: expiration,
            trace: .none
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
    version: Int64? = nil
) -> PartitionCenter.Input {
    .removal(.init(id: id(name), key: key, scope: scope, version: version, trace: .none))
}

/// A centre whose events are collected, on a clock that the test moves.
struct Bench {
    var center = PartitionCenter(limits: .init())
    var events: [DeliveryEvent] = []
    var outcomes: [NotificationCenter.Outcome] = []

    /// Applies an input and returns the events it caused.
    @discardableResult
    mutating func apply(_ input: PartitionCenter.Input, _ milliseconds: Int64 = 0) -> [DeliveryEvent] {
        var effects: [NotificationCenter.Effect] = []
        outcomes.append(center.apply(input, at: at(milliseconds), effects: &effects))
        events += effects.map(\.event)
        return effects.map(\.event)
    }

    /// Fires what is due and returns the events.
    @discardableResult
    mutating func fire(_ milliseconds: Int64) -> [DeliveryEvent] {
        var effects: [NotificationCenter.Effect] = []
        _ = center.fireDue(at: at(milliseconds), limit: .max, effects: &effects)
        events += effects.map(\.event)
        return effects.map(\.event)
    }
}

extension [DeliveryEvent] {
    /// `name id` of each, with `!` where it closes.
    var summary: [String] { map { "\($0.name.rawValue) \($0.requestID)\($0.closes ? "!" : "")" } }
}
