import HeapModule

/// The deadlines of numbered work, earliest first. Work that ends before its deadline leaves it here; these are dropped
/// before they outnumber the others.
struct WorkDeadlines {
    private struct Deadline: Comparable {
        let at: ContinuousClock.Instant
        let number: UInt64

        static func < (a: Self, b: Self) -> Bool { (a.at, a.number) < (b.at, b.number) }
    }

    private var deadlines = Heap<Deadline>()

    /// The number of stored deadlines.
    var count: Int { deadlines.count }

    mutating func insert(_ number: UInt64, at deadline: ContinuousClock.Instant) {
        deadlines.insert(Deadline(at: deadline, number: number))
    }

    /// The earliest deadline of work in progress.
    mutating func next(_ isUnderWay: (UInt64) -> Bool) -> ContinuousClock.Instant? {
        while let next = deadlines.min {
            if isUnderWay(next.number) { return next.at }
            deadlines.removeMin()
        }
        return nil
    }

    /// Removes the earliest deadline if it has passed; the work may have ended.
    mutating func popPassed(at now: ContinuousClock.Instant) -> UInt64? {
        guard let next = deadlines.min, next.at <= now else { return nil }
        deadlines.removeMin()
        return next.number
    }

    /// Drops deadlines of ended work once there are many.
    mutating func bound(underWay amount: Int, _ isUnderWay: (UInt64) -> Bool) {
        guard count > 2 * amount + 64 else { return }
        deadlines = Heap(deadlines.unordered.filter { isUnderWay($0.number) })
    }
}
