import NIOCore

/// How often connections may begin: a token bucket.
struct ConnectionRate: Sendable {
    private let interval: TimeAmount
    /// How far before its turn a connection may begin.
    private let tolerance: TimeAmount
    /// When the bucket will be full again.
    private var full = NIODeadline.distantPast

    /// - Parameters:
    ///   - perSecond: On average; more than 0.
    ///   - atOnce: At least 1.
    init(perSecond: Double, atOnce: Int) {
        interval = .nanoseconds(Int64(max(1, min(1e15, 1e9 / max(1e-6, perSecond)))))
        tolerance = interval * (max(1, min(10_000, atOnce)) - 1)
    }

    /// When the next one may begin; in the past: now.
    var next: NIODeadline { full - tolerance }

    /// Takes a token if there is one.
    mutating func take(at now: NIODeadline) -> Bool {
        guard next <= now else { return false }
        full = max(full, now) + interval
        return true
    }
}
