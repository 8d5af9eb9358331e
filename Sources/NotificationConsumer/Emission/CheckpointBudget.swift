/// How many bytes one checkpoint may write: what the broker has lately acknowledged in two seconds. So a transaction is over
/// long before its timeout, however slow the broker is, and what a lane has done is never far from being durable.
///
/// It begins low, since a lane that begins again after a transaction that took too long knows nothing, and the same load is
/// there. A transaction that was acknowledged faster than it was filled says only that the broker can do as much: the limit
/// rises at once, and falls only when the broker was what the transaction waited for.
///
/// A value: the lane counts, and tells the time.
struct CheckpointBudget: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// How long the broker is to take for one checkpoint.
    static let span = 2.0
    static let smallest = 64 * 1024
    static let initial = 256 * 1024

    /// Never more than that, however fast the broker is.
    let largest: Int
    /// What a checkpoint may write now.
    private(set) var limit: Int
    /// Bytes a second; nil before the first checkpoint.
    private var rate: Double?
    /// Handed to the producer since the last cut.
    private(set) var published = 0
    /// Of entries that the next cut is to write, as far as can be said.
    private var expected = 0
    private var began: Int64?
    /// The checkpoint that is under way.
    private var underWay: (bytes: Int, began: Int64, cut: Int64)?
    /// Instants are kept as nanoseconds since then: with an instant in it the size of this value, which every record changes, would
    /// be known only at run time.
    private static let origin = ContinuousClock.now

    /// - Parameter largest: in bytes, 64 KiB or more.
    init(largest: Int) {
        self.largest = max(largest, Self.smallest)
        limit = min(Self.initial, self.largest)
    }

    /// What the next checkpoint is to write.
    var bytes: Int { published + expected }

    /// Whether a checkpoint is due before anything more is done.
    var isFull: Bool { bytes >= limit }

    /// Whether nothing more may be done, although another checkpoint is under way.
    var isOverfull: Bool { bytes >= 2 * limit }

    /// How many of at most so many bytes each may be done before it is asked again; one at least.
    func room(for each: Int) -> Int { max(1, (limit - bytes) / each) }

    /// A record was handed to the producer.
    ///
    /// - Parameter isOfCut: it belongs to the checkpoint that is under way.
    mutating func add(_ count: Int, isOfCut: Bool, at now: @autoclosure () -> Instant) {
        if isOfCut {
            underWay?.bytes += count
            return
        }
        published += count
        if began == nil { began = Self.nanoseconds(now()) }
    }

    /// An entry of about so many bytes is to be in the next cut.
    mutating func expect(_ count: Int) { expected += count }

    mutating func cut(at now: Instant) {
        let now = Self.nanoseconds(now)
        underWay = (published, began ?? now, now)
        (published, expected, began) = (0, 0, nil)
    }

    /// All of the checkpoint that is under way is acknowledged.
    mutating func acknowledged(at now: Instant) {
        guard let (bytes, began, cut) = underWay else { return }
        underWay = nil
        let now = Self.nanoseconds(now)
        let took = max(Double(now - began) / 1e9, 0.001)
        let sample = Double(bytes) / took
        // A small one tells how long a reply takes, not how much the broker can do.
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
