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

    private struct UnderWay {
        let item: Item
        let reply: Reply
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
    /// By slot; nil in a free one.
    private var underWay: [UnderWay?] = []
    /// By slot: the number of its work, 0 in a free one. Apart, so that nothing is counted to read it.
    private var numbers: [UInt64] = []
    private var free: [Int] = []
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

    private var underWayCount: Int { underWay.count - free.count }
    /// The amount of unfinished work.
    var count: Int { waiting.count + underWayCount }
    /// How much more work may be added.
    var room: Int { max(0, bound - count) }

    /// Whether work waits that the concurrency allows to begin.
    var mayBegin: Bool { !waiting.isEmpty && (underWayCount < concurrency || mayBeginHigh) }

    private var mayBeginHigh: Bool { underWayCount < concurrency + reserve && waiting.hasHigh }

    private mutating func popFirst() -> Waiting? {
        underWayCount < concurrency ? waiting.popFirst() : waiting.popHigh()
    }

    /// Queues work that may take this long once it has started.
    ///
    /// - Parameter priority: not evaluated for work that need not wait.
    package mutating func add(
        _ item: Item,
        within time: Duration,
        priority: @autoclosure () -> WorkPriority = .normal
    ) {
        let mustWait = !waiting.isEmpty || underWayCount >= concurrency || rate != nil
        waiting.append(Waiting(item: item, time: time), mustWait ? priority() : .normal)
    }

    /// Starts queued work, in order of priority, as far as the concurrency and the rate allow.
    ///
    /// - Parameter start: must not wait; the work may already be answered when it returns.
    package mutating func begin(at now: ContinuousClock.Instant, _ start: (Item, Reply) -> Void) {
        while mayBegin, rate?.take(at: now) ?? true, let next = popFirst() {
            lastNumber += 1
            let reply = Reply(to: mailbox, SideWorkID(lastNumber, slot: free.popLast() ?? underWay.count))
            if reply.id.slot == underWay.count {
                underWay.append(nil)
                numbers.append(0)
            }
            underWay[reply.id.slot] = UnderWay(item: next.item, reply: reply)
            numbers[reply.id.slot] = lastNumber
            deadlines.insert(reply.id, at: now.advanced(by: next.time))
            start(next.item, reply)
        }
        deadlines.bound(underWay: underWayCount) { [numbers] in numbers[$0.slot] == $0.number }
    }

    /// - Returns: nil when it is not under way any more.
    private mutating func end(_ id: SideWorkID) -> UnderWay? {
        guard numbers[id.slot] == id.number else { return nil }
        numbers[id.slot] = 0
        free.append(id.slot)
        return underWay[id.slot].take()
    }

    /// When the next work in progress times out, or the rate allows queued work to begin.
    mutating func nextInstant(at now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        let deadline = deadlines.next { [numbers] in numbers[$0.slot] == $0.number }
        guard mayBegin, let begin = rate?.next(at: now) else { return deadline }
        return deadline.map { min($0, begin) } ?? begin
    }

    /// The work finished since the last call. An outcome that has arrived counts even if its deadline has passed
    /// meanwhile.
    package mutating func take(at now: ContinuousClock.Instant) -> [(item: Item, ending: Ending)] {
        var ended: [(item: Item, ending: Ending)] = withdrawn.map { ($0, .withdrawn) }
        if !withdrawn.isEmpty { withdrawn = [] }
        for (id, outcome) in mailbox.take() {
            if let answered = end(id) {
                ended.append((answered.item, .answered(outcome)))
            } else {
                mailbox.noteLate()
            }
        }
        while let id = deadlines.popPassed(at: now) {
            guard let late = end(id) else { continue }
            late.reply.abandon()
            ended.append((late.item, .timedOut(late.reply)))
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
        let needless = underWay.compactMap { $0 }.filter { isNeedless($0.item) }.map(\.reply)
        for reply in needless where end(reply.id) != nil { reply.abandon() }
        return needless.sorted { $0.id.number < $1.id.number }
    }
}
