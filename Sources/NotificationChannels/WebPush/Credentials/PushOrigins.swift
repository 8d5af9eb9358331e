import NotificationModel

/// What is known of the push services that a key signs for, by their origin: tokens, and whether they accept the key. A value.
///
/// Whoever registers a device names an origin, so their number is bounded, and what one of them answers does not concern the
/// others.
struct PushOrigins: Sendable {
    /// The most origins; then the one used longest ago is forgotten.
    static let most = 1000
    /// After how long a message tries an origin that has refused the key, in milliseconds.
    static let pause = ApplicationStops.pause

    private struct Stop {
        var why: String
        /// When the next message tries.
        var next: Timestamp
    }

    private struct Origin {
        /// The value of `authorization`, and when the token expires.
        var token: (authorization: String, expiration: Timestamp)?
        /// Whether it has accepted a message that the key signed: then a refusal concerns the subscription.
        var isProven = false
        var stop: Stop?
        /// The reason of a refusal that an event has told, until a message is accepted.
        var told: String?
        /// The number of the last use.
        var used: UInt64 = 0
    }

    private var origins: [String: Origin] = [:]
    private var uses: UInt64 = 0
    /// When the next refusal may be told.
    private var nextTelling = Timestamp.earliest

    var count: Int { origins.count }

    /// How many have refused the key.
    var stopped: Int { origins.values.count { $0.stop != nil } }

    /// For people: one that has refused the key, and why; nil when there is none.
    var summary: String? {
        origins.filter { $0.value.stop != nil }.min { $0.key < $1.key }.map { "\($0.key): \($0.value.stop?.why ?? "")" }
    }

    /// The value of `authorization` for an origin: a token that is good for at least half of its life.
    ///
    /// - Parameter make: signs another one, which expires at that time in seconds.
    mutating func authorization(
        for name: String,
        at now: Timestamp,
        _ make: (_ expiration: Int64) -> String?
    ) -> String? {
        uses += 1
        var origin = origins[name] ?? Origin()
        defer { insert(origin, name) }
        origin.used = uses
        let left = origin.token.map { $0.expiration.rawValue - now.rawValue }
        // More is left than a token's life when the clock was set back.
        if let token = origin.token, let left, left > VAPIDKey.life / 2, left <= VAPIDKey.life {
            return token.authorization
        }
        let expiration = (now.rawValue + VAPIDKey.life) / 1000
        origin.token = make(expiration).map { ($0, Timestamp(rawValue: expiration * 1000)) }
        return origin.token?.authorization
    }

    private mutating func insert(_ origin: Origin, _ name: String) {
        if origins[name] == nil, origins.count >= Self.most,
            let oldest = origins.min(by: { $0.value.used < $1.value.used })?.key
        {
            origins[oldest] = nil
        }
        origins[name] = origin
    }

    /// Whether a message may go to an origin; if it has refused the key and its pause is over, only this one.
    ///
    /// - Returns: nil when it may; else the milliseconds until the next one may.
    mutating func pause(of name: String, at now: Timestamp) -> Int64? {
        guard let stop = origins[name]?.stop else { return nil }
        guard now >= stop.next else { return stop.next.rawValue - now.rawValue }
        origins[name]?.stop?.next = now.adding(milliseconds: Self.pause)
        return nil
    }

    /// An origin has accepted a message.
    ///
    /// - Returns: whether it was stopped.
    mutating func accepted(_ name: String) -> Bool {
        defer {
            origins[name]?.isProven = true
            origins[name]?.stop = nil
            origins[name]?.told = nil
        }
        return origins[name]?.stop != nil
    }

    /// Whether an origin refuses the key, as events have told.
    var isStopTold: Bool { origins.values.contains { $0.told != nil } }

    func isProven(_ name: String) -> Bool { origins[name]?.isProven ?? false }

    /// An origin has refused the key or its token: the token is not used again, and one message a minute tries.
    ///
    /// Events tell each reason of an origin once, and at most one in ``pause``, since whoever registers a device names an origin;
    /// the others wait for the next message that their origin refuses.
    ///
    /// - Returns: whether that is new, and whether an event tells it.
    mutating func refused(_ name: String, because why: String, at now: Timestamp) -> (isNew: Bool, isTold: Bool) {
        guard var origin = origins[name] else { return (false, false) }
        defer { origins[name] = origin }
        let isNew = origin.stop?.why != why
        // More than a pause is left when the clock was set back.
        let mayTell = now >= nextTelling || nextTelling.rawValue - now.rawValue > Self.pause
        let isTold = mayTell && origin.told != why
        if isTold {
            origin.told = why
            nextTelling = now.adding(milliseconds: Self.pause)
        }
        origin.token = nil
        origin.stop = Stop(why: why, next: now.adding(milliseconds: Self.pause))
        return (isNew, isTold)
    }

    /// An operator has looked at the keys: each origin may be tried at once.
    mutating func tryAll() {
        for name in origins.keys { origins[name]?.stop?.next = .earliest }
    }
}
