import HeapModule
import NotificationDelivery
import NotificationModel

/// The deadlines of numbered work, earliest first. Work that ends before its deadline leaves it here; these are dropped
/// before they outnumber the others.
struct WorkDeadlines {
    /// An integer, because the layout of an `Instant` is known only at run time: a heap of them moves its elements by calls.
    private struct Deadline: Comparable {
        /// Nanoseconds since the first one.
        let time: Int64
        let id: SideWorkID

        static func < (a: Self, b: Self) -> Bool { (a.time, a.id.number) < (b.time, b.id.number) }
    }

    private var deadlines = Heap<Deadline>()
    private var first: ContinuousClock.Instant?

    /// The number of stored deadlines.
    var count: Int { deadlines.count }

    mutating func insert(_ id: SideWorkID, at deadline: ContinuousClock.Instant) {
        let first = first ?? deadline
        self.first = first
        deadlines.insert(Deadline(time: first.duration(to: deadline).nanoseconds, id: id))
    }

    /// The earliest deadline of work in progress.
    mutating func next(_ isUnderWay: (SideWorkID) -> Bool) -> ContinuousClock.Instant? {
        while let first, let next = deadlines.min {
            if isUnderWay(next.id) { return first.advanced(by: .nanoseconds(next.time)) }
            deadlines.removeMin()
        }
        return nil
    }

    /// Removes the earliest deadline if it has passed; the work may have ended.
    mutating func popPassed(at now: ContinuousClock.Instant) -> SideWorkID? {
        guard let first, let next = deadlines.min, next.time <= first.duration(to: now).nanoseconds else { return nil }
        deadlines.removeMin()
        return next.id
    }

    /// Drops deadlines of ended work once there are many.
    mutating func bound(underWay amount: Int, _ isUnderWay: (SideWorkID) -> Bool) {
        guard count > 2 * amount + 64 else { return }
        deadlines = Heap(deadlines.unordered.filter { isUnderWay($0.id) })
    }
}
