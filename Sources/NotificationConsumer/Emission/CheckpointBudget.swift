import NotificationModel

/// How many bytes one checkpoint may write: the amount that the broker recently acknowledged in two seconds. A
/// transaction therefore ends long before its timeout, however slow the broker is, and the work of a lane soon becomes
/// durable.
///
/// It starts low: a lane that restarts after a transaction that took too long has no measurement, and the load is
/// unchanged. A transaction that was acknowledged faster than it was filled only shows that the broker can do at least
/// that much: the limit rises at once. It falls only when the broker was the reason for the delay.
///
/// A value: the lane counts and provides the time.
struct CheckpointBudget: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// The target time of the broker for one checkpoint, in seconds.
    static let span = 2.0
    static let smallest = 64 * 1024
    static let initial = 256 * 1024

    /// The upper limit, however fast the broker is.
    let largest: Int
    /// The current limit of a checkpoint, in bytes.
    private(set) var limit: Int
    /// Bytes per second; nil before the first checkpoint.
    private var rate: Double?
    /// Bytes passed to the producer since the last cut.
    private(set) var published = 0
    /// The estimated bytes of entries in the next cut.
    private var expected = 0
    private var began: Int64?
    /// The checkpoint in progress.
    private var underWay: (bytes: Int, began: Int64, cut: Int64)?
    /// Instants are stored as nanoseconds since this one: a stored instant would make the size of this value, which
    /// every record changes, known only at run time.
    private static let origin = ContinuousClock.now

    /// - Parameter largest: in bytes, 64 KiB or more.
    init(largest: Int) {
        self.largest = max(largest, Self.smallest)
        limit = min(Self.initial, self.largest)
    }

    /// The bytes that the next checkpoint will write.
    var bytes: Int { published + expected }

    /// Whether a checkpoint is due before any further work.
    var isFull: Bool { bytes >= limit }

    /// Whether work must stop although another checkpoint is in progress.
    var isOverfull: Bool { bytes >= 2 * limit }

    /// How many items of at most `each` bytes may be processed before the next check; at least one.
    func room(for each: Int) -> Int { max(1, (limit - bytes) / each) }

    /// Counts a record that was passed to the producer.
    ///
    /// - Parameter isOfCut: whether it belongs to the checkpoint in progress.
    mutating func add(_ count: Int, isOfCut: Bool, at now: @autoclosure () -> Instant) {
        if isOfCut {
            underWay?.bytes += count
            return
        }
        published += count
        if began == nil { began = Self.nanoseconds(now()) }
    }

    /// Adds an entry of about this size to the estimate of the next cut.
    mutating func expect(_ count: Int) { expected += count }

    mutating func cut(at now: Instant) {
        let now = Self.nanoseconds(now)
        underWay = (published, began ?? now, now)
        (published, expected, began) = (0, 0, nil)
    }

    /// The checkpoint in progress is completely acknowledged.
    mutating func acknowledged(at now: Instant) {
        guard let (bytes, began, cut) = underWay else { return }
        underWay = nil
        let now = Self.nanoseconds(now)
        let took = max(Double(now - began) / 1e9, 0.001)
        let sample = Double(bytes) / took
        // A small checkpoint measures the latency of a reply, not the throughput of the broker.
        let isTelling = bytes >= limit / 2 || took >= Self.span / 2
        if isTelling, Double(now - cut) / 1e9 > took / 2 {
            rate = rate.map { ($0 + sample) / 2 } ?? sample
        } else {
            rate = max(rate ?? Double(limit) / Self.span, sample)
        }
        let next = min(Double(largest), max(Double(Self.smallest), (rate ?? 0) * Self.span))
        limit = Int(next)
    }

    private static func nanoseconds(_ instant: Instant) -> Int64 { (instant - origin).nanoseconds }
}
