import DequeModule
import HeapModule

/// What goes on beside a lane, as the lane sees it: work that waits to begin, work under way with its deadlines, and a mailbox
/// for what becomes of it. It knows nothing of what the work is.
///
/// 1. `add` puts work behind what waits; `begin` begins it as soon as less than `concurrency` is under way.
/// 2. Each work ends once, in what `take` returns: with its outcome, timed out, or withdrawn before it began. What is given up
///    by `cancel` does not come back.
/// 3. Whoever adds work looks at `room` before: what has not ended is bounded by that, not here.
/// 4. A deadline counts from the begin, by the monotonic clock of the lane's link.
package struct SideWork<Item, Outcome: Sendable> {
    package typealias Reply = SideWorkReply<Outcome>

    package enum Ending {
        case answered(Outcome)
        /// Its deadline has passed: whoever does it is to stop.
        case timedOut(Reply)
        /// It was not wanted any more, and has not begun.
        case withdrawn
    }

    private struct Waiting {
        let item: Item
        let time: Duration
    }

    private struct Deadline: Comparable {
        let at: ContinuousClock.Instant
        let number: UInt64

        static func < (a: Self, b: Self) -> Bool { (a.at, a.number) < (b.at, b.number) }
    }

    /// How much may be under way.
    private let concurrency: Int
    /// How much there may be that has not ended.
    let bound: Int
    private let mailbox: SideWorkMailbox<Outcome>
    private var waiting: Deque<Waiting> = []
    private var underWay: [UInt64: Item] = [:]
    /// Of what is under way, and of some that has ended.
    private var deadlines = Heap<Deadline>()
    private var withdrawn: [Item] = []
    private var lastNumber: UInt64 = 0

    package init(concurrency: Int, bound: Int, mailbox: SideWorkMailbox<Outcome>) {
        (self.concurrency, self.bound, self.mailbox) = (concurrency, bound, mailbox)
    }

    /// What has not ended.
    var count: Int { waiting.count + underWay.count }
    /// Deadlines that are kept.
    var deadlineCount: Int { deadlines.count }
    /// How much more may be added.
    var room: Int { max(0, bound - count) }

    /// Adds work that may take so long once it has begun.
    mutating func add(_ item: Item, within time: Duration) {
        waiting.append(Waiting(item: item, time: time))
    }

    /// Begins what waits, in order, as far as the concurrency allows.
    ///
    /// - Parameter start: does not wait; it may have answered already when it returns.
    mutating func begin(at now: ContinuousClock.Instant, _ start: (Item, Reply) -> Void) {
        while underWay.count < concurrency, let next = waiting.popFirst() {
            lastNumber += 1
            underWay[lastNumber] = next.item
            deadlines.insert(Deadline(at: now.advanced(by: next.time), number: lastNumber))
            mailbox.await(lastNumber)
            start(next.item, Reply(to: mailbox, lastNumber))
        }
        forgetOldDeadlines()
    }

    /// What is answered long before its deadline must not fill the heap.
    private mutating func forgetOldDeadlines() {
        guard deadlines.count > 2 * underWay.count + 64 else { return }
        deadlines = Heap(deadlines.unordered.filter { underWay[$0.number] != nil })
    }

    /// When the next of what is under way times out.
    mutating func nextDeadline() -> ContinuousClock.Instant? {
        while let next = deadlines.min {
            if underWay[next.number] != nil { return next.at }
            deadlines.removeMin()
        }
        return nil
    }

    /// What ended since the last call. An outcome that came counts, also when its deadline has passed meanwhile.
    mutating func take(at now: ContinuousClock.Instant) -> [(item: Item, ending: Ending)] {
        var ended: [(item: Item, ending: Ending)] = withdrawn.map { ($0, .withdrawn) }
        if !withdrawn.isEmpty { withdrawn = [] }
        for (number, outcome) in mailbox.take() {
            if let item = underWay.removeValue(forKey: number) {
                ended.append((item, .answered(outcome)))
            } else {
                mailbox.noteLate()
            }
        }
        while let next = deadlines.min, next.at <= now {
            deadlines.removeMin()
            guard let item = underWay.removeValue(forKey: next.number) else { continue }
            mailbox.forget(next.number)
            ended.append((item, .timedOut(Reply(to: mailbox, next.number))))
        }
        return ended
    }

    /// Takes back what waits and is not wanted any more; what has begun goes on.
    mutating func withdraw(where isNeedless: (Item) -> Bool) {
        guard !waiting.isEmpty else { return }
        withdrawn += waiting.filter { isNeedless($0.item) }.map(\.item)
        waiting.removeAll { isNeedless($0.item) }
    }

    /// Gives up: outcomes that come later are late.
    ///
    /// - Returns: the replies of what was under way, in the order in which it began: whoever does it is to stop.
    mutating func cancel(where isNeedless: (Item) -> Bool) -> [Reply] {
        waiting.removeAll { isNeedless($0.item) }
        withdrawn.removeAll(where: isNeedless)
        let numbers = underWay.filter { isNeedless($0.value) }.keys.sorted()
        for number in numbers {
            underWay[number] = nil
            mailbox.forget(number)
        }
        return numbers.map { Reply(to: mailbox, $0) }
    }
}
