/// What happened to a notification: the middle of `carillon.notification.<name>.v1`.
public enum DeliveryEventName: String, CaseIterable, Sendable, Hashable {
    /// Waiting for its trigger.
    case scheduled = "scheduled"
    /// The channel accepted it.
    case delivered = "delivered"
    /// A newer request replaced it.
    case superseded = "superseded"
    /// Removed before it was sent.
    case cancelled = "cancelled"
    /// A removal found nothing pending.
    case cancellationMissed = "cancellation.missed"
    /// Withdrawn after it was sent.
    case removed = "removed"
    /// Its expiration has passed.
    case expired = "expired"
    /// Not sent because of a rule.
    case suppressed = "suppressed"
    /// Held for a newer request.
    case held = "held"
    /// Merged into another one.
    case digested = "digested"
    /// Occurrences that passed while no service was running.
    case missed = "missed"
    /// The channel refused it permanently.
    case failed = "failed"
    /// One attempt at one device.
    case deviceAttempted = "device.attempted"
    /// A device has received it.
    case deviceReceived = "device.received"
    /// A device has presented it.
    case devicePresented = "device.presented"
    /// The person has opened it on a device.
    case deviceOpened = "device.opened"

    private static let typePrefix = "carillon.notification."
    private static let typeSuffix = ".v1"

    /// The event's `ce_type`.
    public var type: StaticString {
        switch self {
        case .scheduled: "carillon.notification.scheduled.v1"
        case .delivered: "carillon.notification.delivered.v1"
        case .superseded: "carillon.notification.superseded.v1"
        case .cancelled: "carillon.notification.cancelled.v1"
        case .cancellationMissed: "carillon.notification.cancellation.missed.v1"
        case .removed: "carillon.notification.removed.v1"
        case .expired: "carillon.notification.expired.v1"
        case .suppressed: "carillon.notification.suppressed.v1"
        case .held: "carillon.notification.held.v1"
        case .digested: "carillon.notification.digested.v1"
        case .missed: "carillon.notification.missed.v1"
        case .failed: "carillon.notification.failed.v1"
        case .deviceAttempted: "carillon.notification.device.attempted.v1"
        case .deviceReceived: "carillon.notification.device.received.v1"
        case .devicePresented: "carillon.notification.device.presented.v1"
        case .deviceOpened: "carillon.notification.device.opened.v1"
        }
    }

    /// Reads a `ce_type`; nil for any other type.
    public init?(type: String) {
        guard type.hasPrefix(Self.typePrefix), type.hasSuffix(Self.typeSuffix),
            type.utf8.count > Self.typePrefix.utf8.count + Self.typeSuffix.utf8.count
        else { return nil }
        self.init(rawValue: String(type.dropFirst(Self.typePrefix.count).dropLast(Self.typeSuffix.count)))
    }

    /// Reads a `ce_type` header's value; nil for any other type.
    public init?(type: [UInt8]) {
        self.init(type: String(decoding: type, as: UTF8.self))
    }
}
