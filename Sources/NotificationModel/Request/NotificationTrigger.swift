/// When a notification is due.
public enum NotificationTrigger: Hashable, Sendable {
    /// Now.
    case push
    /// After an interval, counted from the request record's timestamp.
    case timeInterval(TimeIntervalTrigger)
    /// At calendar times.
    indirect case calendar(CalendarTrigger)
    /// On entering or leaving a region.
    indirect case location(LocationTrigger)

    /// True when it fires more than once.
    public var repeats: Bool {
        switch self {
        case .push: false
        case .timeInterval(let trigger): trigger.repeats
        case .calendar(let trigger): trigger.repeats
        case .location(let trigger): trigger.repeats
        }
    }

    /// What to do with an occurrence that passed while no service was running; nil is the default policy.
    public var misfire: MisfirePolicy? {
        switch self {
        case .push, .location: nil
        case .timeInterval(let trigger): trigger.misfire
        case .calendar(let trigger): trigger.misfire
        }
    }
}

/// What to do with occurrences that passed while no service was running.
///
/// Without one, a one-shot fires late unless expired, and a repeat fires once when less than 15 minutes late, else `next`.
public enum MisfirePolicy: String, CaseIterable, Hashable, Sendable, Codable {
    /// Fire once, now.
    case once
    /// Only the next occurrence.
    case next
    /// Never fire a missed occurrence.
    case drop
}

/// Fires an interval after the request, once or repeatedly without drift.
public struct TimeIntervalTrigger: Hashable, Sendable {
    /// Seconds: more than 0, at least 60 when repeating, at most ``ModelLimits/timeInterval``.
    public var timeInterval: Double
    /// Fires again every interval.
    public var repeats: Bool
    /// What happens to missed occurrences; nil is the default policy.
    public var misfire: MisfirePolicy?
    /// Seconds over which firing may be spread, 0 to ``ModelLimits/jitter``.
    public var jitter: Double?

    /// A time-interval trigger.
    public init(
        timeInterval: Double,
        repeats: Bool = false,
        misfire: MisfirePolicy? = nil,
        jitter: Double? = nil
    ) {
        self.timeInterval = timeInterval
        self.repeats = repeats
        self.misfire = misfire
        self.jitter = jitter
    }

    /// The interval in milliseconds, rounded up so that nothing fires early.
    public var intervalMilliseconds: Int64 {
        NotificationTrigger.milliseconds(timeInterval)
    }

    /// The jitter in milliseconds.
    public var jitterMilliseconds: Int64 {
        NotificationTrigger.milliseconds(jitter ?? 0)
    }
}

/// Fires when a device enters or leaves a region; the initial side does not count.
///
/// In JSON a missing edge is false, unlike Core Location's default: the request names what fires.
public struct LocationTrigger: Hashable, Sendable {
    /// The region.
    public var region: CircularRegion
    /// Fires on entry; at least one of the two must be true.
    public var notifyOnEntry: Bool
    /// Fires on exit; at least one of the two must be true.
    public var notifyOnExit: Bool
    /// Fires at every crossing, not only the first.
    public var repeats: Bool

    /// A location trigger.
    public init(region: CircularRegion, notifyOnEntry: Bool, notifyOnExit: Bool, repeats: Bool = false) {
        self.region = region
        self.notifyOnEntry = notifyOnEntry
        self.notifyOnExit = notifyOnExit
        self.repeats = repeats
    }
}

/// A circle on the Earth.
public struct CircularRegion: Hashable, Sendable {
    /// Degrees, -90 to 90.
    public var latitude: Double
    /// Degrees, -180 to 180.
    public var longitude: Double
    /// Metres, more than 0, at most ``ModelLimits/regionRadius``.
    public var radius: Double

    /// A region.
    public init(latitude: Double, longitude: Double, radius: Double) {
        self.latitude = latitude
        self.longitude = longitude
        self.radius = radius
    }
}

extension NotificationTrigger {
    /// Seconds as whole milliseconds, rounded up. A product that is whole except for binary rounding is not rounded up.
    static func milliseconds(_ seconds: Double) -> Int64 {
        let product = seconds * 1000
        let nearest = product.rounded()
        let whole = abs(product - nearest) <= abs(product) * 1e-12 ? nearest : product.rounded(.up)
        return Int64(exactly: whole) ?? (whole > 0 ? .max : 0)
    }
}
