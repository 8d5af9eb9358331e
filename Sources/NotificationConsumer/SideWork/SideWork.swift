package import NotificationDelivery
/// Asynchronous work of a lane: a queue, the work in progress with its deadlines, and a mailbox for outcomes. It does
/// not know what the work is.
///
/// 1. `add` queues work; `begin` starts it when less than `concurrency` is in progress.
///    Work of a higher priority begins first, and a rate may limit how often work begins.
/// 2. `take` returns each piece of work once: with its outcome, timed out, or withdrawn before it started. It does not
///    return work given up by `cancel`.
/// 3. The caller checks `room` before adding work: this type does not limit unfinished work.
/// 4. A deadline counts from the start of the work, by the monotonic clock of the lane's link.
package struct SideWork<Item, Outcome: Sendable> {
    package typealias Reply = SideWorkReply<Outcome>

    package enum Ending {
        case answered(Outcome)
        /// Its deadline has passed: the worker must stop.
        case timedOut(Reply)
        /// It was withdrawn before it started.
        case withdrawn
    }

    private struct Waiting {
        let item: Item
        let time: Duration
    }

    /// How much work may be in progress.
    let concurrency: Int
    /// By how much work of the highest priority may exceed it: it does not wait for others to end.
    private let reserve: Int
    /// How much unfinished work there may be.
    let bound: Int
    private let mailbox: SideWorkMailbox<Outcome>
    private var waiting = WorkQueue<Waiting>()
    /// nil for no limit.
    private var rate: WorkRate?
    private var underWay: [UInt64: Item] = [:]
    private(set) var deadlines = WorkDeadlines()
    private var withdrawn: [Item] = []
    private var lastNumber: UInt64 = 0

    package init(
        concurrency: Int,
        reserve: Int = 0,
        bound: Int,
        rate: WorkRate? = nil,
        mailbox: SideWorkMailbox<Outcome>
    ) {
        (self.concurrency, self.reserve, self.bound) = (concurrency, reserve, bound)
        (self.rate, self.mailbox) = (rate, mailbox)
    }

    /// The amount of unfinished work.
    var count: Int { waiting.count + underWay.count }
    /// How much more work may be added.
    var room: Int { max(0, bound - count) }

    /// Whether work waits that the concurrency allows to begin.
    var mayBegin: Bool { !waiting.isEmpty && (underWay.count < concurrency || mayBeginHigh) }

    private var mayBeginHigh: Bool { underWay.count < concurrency + reserve && waiting.hasHigh }

    private mutating func popFirst() -> Waiting? {
        underWay.count < concurrency ? waiting.popFirst() : waiting.popHigh()
    }

    /// Queues work that may take this long once it has started.
    ///
    /// - Parameter priority: not evaluated for work that need not wait.
    package mutating func add(
        _ item: Item,
        within time: Duration,
        priority: @autoclosure () -> WorkPriority = .normal
    ) {
        let mustWait = !waiting.isEmpty || underWay.count >= concurrency || rate != nil
        waiting.append(Waiting(item: item, time: time), mustWait ? priority() : .normal)
    }

    /// Starts queued work, in order of priority, as far as the concurrency and the rate allow.
    ///
    /// - Parameter start: must not wait; the work may already be answered when it returns.
    package mutating func begin(at now: ContinuousClock.Instant, _ start: (Item, Reply) -> Void) {
        while mayBegin, rate?.take(at: now) ?? true, let next = popFirst() {
            lastNumber += 1
            underWay[lastNumber] = next.item
            deadlines.insert(lastNumber, at: now.advanced(by: next.time))
            mailbox.await(lastNumber)
            start(next.item, Reply(to: mailbox, lastNumber))
        }
        deadlines.bound(underWay: underWay.count) { [underWay] in underWay[$0] != nil }
    }

    /// When the next work in progress times out, or the rate allows queued work to begin.
    mutating func nextInstant(at now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        let deadline = deadlines.next { [underWay] in underWay[$0] != nil }
        guard mayBegin, let begin = rate?.next(at: now) else { return deadline }
        return deadline.map { min($0, begin) } ?? begin
    }

    /// The work finished since the last call. An outcome that has arrived counts even if its deadline has passed
    /// meanwhile.
    package mutating func take(at now: ContinuousClock.Instant) -> [(item: Item, ending: Ending)] {
        var ended: [(item: Item, ending: Ending)] = withdrawn.map { ($0, .withdrawn) }
        if !withdrawn.isEmpty { withdrawn = [] }
        for (number, outcome) in mailbox.take() {
            if let item = underWay.removeValue(forKey: number) {
                ended.append((item, .answered(outcome)))
            } else {
                mailbox.noteLate()
            }
        }
        while let number = deadlines.popPassed(at: now) {
            guard let item = underWay.removeValue(forKey: number) else { continue }
            mailbox.forget(number)
            ended.append((item, .timedOut(Reply(to: mailbox, number))))
        }
        return ended
    }

    /// Withdraws matching queued work; started work continues.
    mutating func withdraw(where isNeedless: (Item) -> Bool) {
        withdrawn += waiting.remove { isNeedless($0.item) }.map(\.item)
    }

    /// Gives up matching work: outcomes that arrive later are late.
    ///
    /// - Returns: the replies of work in progress, in the order in which it started: the worker must stop.
    mutating func cancel(where isNeedless: (Item) -> Bool) -> [Reply] {
        _ = waiting.remove { isNeedless($0.item) }
        withdrawn.removeAll(where: isNeedless)
        let numbers = underWay.filter { isNeedless($0.value) }.keys.sorted()
        for number in numbers {
            underWay[number] = nil
            mailbox.forget(number)
        }
        return numbers.map { Reply(to: mailbox, $0) }
    }
}
