import NotificationModel
import NotificationState
import Testing

@testable import NotificationConsumer

/// A center whose requests come as records, on the clock of the world.
struct FloatingBench {
    static let intake = RequestIntake(topic: "requests", zones: zones) { _ in 0 }

    var bench: Bench
    private let rules: LifecycleRules
    private let limits: PartitionCenter.Limits

    init(limits: PartitionCenter.Limits = .init()) {
        var rules = LifecycleRules(retention: limits.retention)
        rules.zones = zones
        (self.rules, self.limits) = (rules, limits)
        bench = Bench(rules, limits: limits)
    }

    /// As the other tests count them.
    static func milliseconds(_ time: String) throws -> Int64 { try instant(time).rawValue - at(0).rawValue }

    static func instant(_ time: String) throws -> Timestamp { try #require(Timestamp(rfc3339: time)) }

    static func record(
        _ name: String,
        _ trigger: String,
        identifier: String? = nil,
        version: Int64? = nil,
        at time: Timestamp
    ) -> Intake.Record {
        let version = version.map { #""version":\#($0),"# } ?? ""
        return .init(
            .requests,
            partition: 0,
            offset: 0,
            timestamp: time.rawValue,
            key: key(identifier ?? name).encoded,
            value: Array(#"{"requestId":"\#(name)",\#(version)"content":{"title":"T"},"trigger":\#(trigger)}"#.utf8),
            trace: .none
        )
    }

    /// Applies a request with a calendar trigger.
    ///
    /// - Parameters:
    ///   - more: other members of the trigger.
    ///   - after: instead of the end of the trigger: members of the request.
    @discardableResult
    mutating func put(
        _ name: String,
        _ components: String,
        more: String = "",
        after: String = "}",
        identifier: String? = nil,
        version: Int64? = nil,
        at time: String
    ) throws -> CenterInput.Outcome {
        let now = try Self.instant(time)
        let trigger = #"{"type":"calendar","dateComponents":\#(components)\#(more)\#(after)"#
        let record = Self.record(name, trigger, identifier: identifier, version: version, at: now)
        let input: CenterInput
        do throws(ModelError) {
            input = try Self.intake.input(from: record, at: now)
        } catch {
            return .refused(error)
        }
        bench.apply(input, try Self.milliseconds(time))
        return try #require(bench.outcomes.last)
    }

    @discardableResult
    mutating func register(_ zone: String?, device: String = "phone", at time: String) throws -> [DeliveryEvent] {
        let now = try Self.milliseconds(time)
        let token = String(repeating: device == "phone" ? "a1" : "b2", count: 32)
        return bench.apply(try DeviceTests.device(device, token: token, zone: zone, at: now), now)
    }

    mutating func end(_ device: String, at time: String) throws {
        let now = try Self.milliseconds(time)
        bench.apply(DeviceTests.gone(device, at: now), now)
    }

    /// Commits, and goes on with the next owner.
    mutating func restart(at time: String) throws {
        try bench.commit()
        try takeOver(firedThrough: time)
    }

    /// Goes on with the next owner of what is committed.
    mutating func takeOver(firedThrough time: String) throws {
        let (events, offset, keepsRecipients) = (bench.events, bench.offset, bench.center.keepsRecipients)
        bench = Bench(rules, over: bench.store, limits: limits, firedThrough: try Self.instant(time))
        (bench.events, bench.offset, bench.center.keepsRecipients) = (events, offset, keepsRecipients)
    }

    /// Fires what is due, and returns the identifiers and occurrences of what is delivered.
    mutating func fire(at time: String) throws -> [String] {
        let now = try Self.milliseconds(time)
        while bench.center.nextRefill != nil, try bench.center.refill(at: at(now)) > 0 {}
        return bench.fire(now).filter { $0.name == .delivered }
            .map { "\($0.key.identifier) \($0.occurrence?.rfc3339 ?? "")" }
    }

    func due(_ identifier: String) -> String? { bench.entry(key(identifier))?.pending?.due?.rfc3339 }

    /// The zone that it is planned in.
    func zone(_ identifier: String) -> String? {
        guard case .scheduled(.calendar(let schedule), _)? = bench.entry(key(identifier))?.pending?.timer else {
            return nil
        }
        return schedule.zone.name
    }

    /// All events of an identifier.
    func events(_ identifier: String) -> [DeliveryEvent] { bench.events.filter { $0.key.identifier == identifier } }

    /// The dates of all `scheduled` events of an identifier.
    func scheduled(_ identifier: String) -> [String?] {
        events(identifier).filter { $0.name == .scheduled }.map { $0.nextTriggerDate?.rfc3339 }
    }
}
