import Foundation
import Synchronization
import Testing

import NotificationDelivery
@testable import NotificationConsumer

/// Asynchronous work of a lane, tested as values without a lane; the test controls the time.
struct SideWorkTests {
    private final class Counts: Sendable {
        let wakes = Atomic(0)
        let late = Atomic(0)
        var all: [Int] { [wakes.load(ordering: .relaxed), late.load(ordering: .relaxed)] }
    }

    private typealias Work = SideWork<String, Int>

    private let counts = Counts()
    private let start = ContinuousClock.now

    private func work(concurrency: Int = 10, bound: Int = 10) -> Work {
        let counts = counts
        let mailbox = SideWorkMailbox<Int>(
            wake: { counts.wakes.add(1, ordering: .relaxed) },
            onLate: { counts.late.add(1, ordering: .relaxed) }
        )
        return Work(concurrency: concurrency, bound: bound, mailbox: mailbox)
    }

    private func after(_ seconds: Int) -> ContinuousClock.Instant { start + .seconds(seconds) }

    /// Begins work as far as permitted, and returns it with its replies.
    private func begin(_ work: inout Work, at second: Int = 0) -> [(item: String, reply: Work.Reply)] {
        var begun: [(item: String, reply: Work.Reply)] = []
        work.begin(at: after(second)) { begun.append(($0, $1)) }
        return begun
    }

    private func take(_ work: inout Work, at second: Int = 0) -> [String] {
        work.take(at: after(second)).map { item, ending in
            switch ending {
            case .answered(let outcome): "\(item) \(outcome)"
            case .timedOut: "\(item) timed out"
            case .withdrawn: "\(item) withdrawn"
            }
        }
    }

    private func add(_ items: String..., to work: inout Work, within seconds: Int = 30) {
        for item in items { work.add(item, within: .seconds(seconds)) }
    }

    @Test func `work begins in order, up to the permitted concurrency, and the rest follows`() {
        var work = work(concurrency: 2, bound: 4)
        add("a", "b", "c", to: &work)
        #expect(work.room == 1)
        let first = begin(&work)
        #expect(first.map(\.item) == ["a", "b"] && begin(&work).isEmpty)
        first[1].reply(7)
        #expect(begin(&work).isEmpty, "it has not been taken")
        #expect(take(&work) == ["b 7"])
        #expect(begin(&work).map(\.item) == ["c"] && work.count == 2 && work.room == 2)
    }

    @Test func `the first outcome wakes the lane, further ones do not until it is taken`() {
        var work = work()
        add("a", "b", "c", to: &work)
        let begun = begin(&work)
        begun[2].reply(3)
        begun[0].reply(1)
        #expect(counts.all == [1, 0])
        #expect(take(&work) == ["c 3", "a 1"])
        #expect(take(&work).isEmpty)
        begun[1].reply(2)
        #expect(counts.all == [2, 0] && take(&work) == ["b 2"] && work.count == 0)
    }

    @Test func `an outcome may arrive before the begin has returned`() {
        var work = work()
        add("a", to: &work)
        work.begin(at: start) { $1(5) }
        #expect(take(&work) == ["a 5"])
    }

    @Test func `a repeated outcome, or one of cancelled work, is late, does not wake and takes no room`() {
        var work = work()
        add("a", "b", to: &work)
        let begun = begin(&work)
        begun[0].reply(1)
        begun[0].reply(1)
        #expect(counts.all == [1, 1])
        #expect(work.cancel { $0 == "b" } == [begun[1].reply])
        begun[1].reply(2)
        #expect(counts.all == [1, 2])
        #expect(take(&work) == ["a 1"] && work.count == 0)
    }

    @Test func `an outcome that was not taken before its work was cancelled is late`() {
        var work = work()
        add("a", to: &work)
        let begun = begin(&work)
        begun[0].reply(1)
        #expect(work.cancel { _ in true } == [begun[0].reply])
        #expect(take(&work).isEmpty)
        #expect(counts.all == [1, 1])
    }

    @Test func `work without an outcome by its deadline times out, and a later outcome is late`() {
        var work = work()
        add("a", to: &work, within: 30)
        add("b", to: &work, within: 10)
        let begun = begin(&work)
        #expect(work.nextInstant(at: start) == after(10) && take(&work, at: 9).isEmpty)
        #expect(take(&work, at: 10) == ["b timed out"] && work.nextInstant(at: start) == after(30))
        begun[1].reply(2)
        #expect(counts.all == [0, 1])
        begun[0].reply(1)
        #expect(take(&work, at: 60) == ["a 1"], "an outcome that came counts")
        #expect(work.nextInstant(at: start) == nil && work.count == 0)
    }

    @Test func `a deadline counts from the beginning of the work`() {
        var work = work(concurrency: 1)
        add("a", "b", to: &work, within: 10)
        let first = begin(&work)
        #expect(take(&work, at: 8).isEmpty)
        first[0].reply(1)
        #expect(take(&work, at: 8) == ["a 1"])
        #expect(begin(&work, at: 8).count == 1 && work.nextInstant(at: start) == after(18))
    }

    @Test func `queued work can be withdrawn, started work continues`() {
        var work = work(concurrency: 1)
        add("a", "b", "c", to: &work)
        let begun = begin(&work)
        work.withdraw { $0 != "c" }
        #expect(take(&work) == ["b withdrawn"] && take(&work).isEmpty && work.count == 2)
        begun[0].reply(1)
        #expect(take(&work) == ["a 1"] && begin(&work).map(\.item) == ["c"])
    }

    @Test func `queued work is cancelled without an ending`() {
        var work = work(concurrency: 1)
        add("a", "b", "c", to: &work)
        let begun = begin(&work)
        work.withdraw { $0 == "b" }
        #expect(work.cancel { _ in true } == [begun[0].reply])
        #expect(work.count == 0 && take(&work).isEmpty && begin(&work).isEmpty)
    }

    @Test func `deadlines of answered work are dropped`() {
        var work = work(concurrency: 2)
        for number in 0..<1000 {
            add("\(number)", to: &work, within: 1000)
            for begun in begin(&work) { begun.reply(0) }
            _ = take(&work)
        }
        #expect(work.deadlines.count < 100 && work.nextInstant(at: start) == nil)
    }

    /// A lost ring would make a wait last for an hour.
    @Test(.timeLimit(.minutes(10))) func `a ring ends a wait, also if it comes before the wait`() async {
        let bell = Bell()
        bell.ring()
        bell.ring()
        bell.wait(atMost: .seconds(3600))
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                for _ in 0..<100 {
                    Thread.detachNewThread { bell.ring() }
                    bell.wait(atMost: .seconds(3600))
                }
                continuation.resume()
            }
        }
    }

    @Test(.timeLimit(.minutes(10))) func `outcomes from many threads are taken once each`() async {
        var work = work(concurrency: 400, bound: 400)
        for number in 0..<400 { add("\(number)", to: &work) }
        let replies = begin(&work).map(\.reply)
        await withTaskGroup(of: Void.self) { group in
            for reply in replies { for _ in 0..<2 { group.addTask { reply(1) } } }
        }
        #expect(Set(take(&work)) == Set((0..<400).map { "\($0) 1" }))
        #expect(counts.all == [1, 400] && work.count == 0)
    }

    // MARK: - Priority and rate

    private func prioritized(_ work: inout Work, _ items: (String, WorkPriority)...) {
        for (item, priority) in items { work.add(item, within: .seconds(30), priority: priority) }
    }

    @Test func `work that waits begins by priority, and equal priorities in order`() {
        var work = work(concurrency: 1)
        prioritized(&work, ("first", .low))
        let first = begin(&work)
        prioritized(&work, ("l", .low), ("n1", .normal), ("h1", .high), ("n2", .normal), ("h2", .high))
        first[0].reply(0)
        var order: [String] = []
        while work.count > 0 {
            _ = take(&work)
            for begun in begin(&work) {
                order.append(begun.item)
                begun.reply(0)
            }
        }
        #expect(order == ["h1", "h2", "n1", "n2", "l"])
    }

    @Test func `work of the highest priority may exceed the concurrency by the reserve, and no other`() {
        var work = Work(concurrency: 2, reserve: 1, bound: 100, mailbox: .init(wake: {}, onLate: {}))
        prioritized(&work, ("n1", .normal), ("n2", .normal), ("n3", .normal), ("l", .low))
        #expect(begin(&work).map(\.item) == ["n1", "n2"] && !work.mayBegin)
        prioritized(&work, ("h1", .high), ("h2", .high))
        #expect(work.mayBegin)
        let urgent = begin(&work)
        #expect(urgent.map(\.item) == ["h1"] && !work.mayBegin)
        urgent[0].reply(0)
        _ = take(&work)
        #expect(begin(&work).map(\.item) == ["h2"])
        #expect(work.count == 5)
    }

    @Test func `the priority of work that need not wait is not evaluated`() {
        var work = work(concurrency: 2)
        var count = 0
        func priority() -> WorkPriority {
            count += 1
            return .high
        }
        work.add("a", within: .seconds(1), priority: priority())
        _ = begin(&work)
        work.add("b", within: .seconds(1), priority: priority())
        #expect(count == 0)
        work.add("c", within: .seconds(1), priority: priority())
        #expect(count == 1)
    }

    @Test func `nothing starves: work of a lower priority begins after so many of a higher one`() {
        var queue = WorkQueue<String>()
        for _ in 0..<100 { queue.append("h", .high) }
        for _ in 0..<5 {
            queue.append("n", .normal)
            queue.append("l", .low)
        }
        let order = (0..<110).compactMap { _ in queue.popFirst() }
        #expect(order.count == 110 && queue.isEmpty && queue.popFirst() == nil)
        let (normal, low) = (order.indices.filter { order[$0] == "n" }, order.indices.filter { order[$0] == "l" })
        #expect(normal.first.map { $0 <= 18 } == true && low.first.map { $0 <= 18 } == true)
        for turns in [normal, low] {
            #expect(zip(turns, turns.dropFirst()).allSatisfy { $1 - $0 <= 18 }, "\(turns)")
        }
        #expect(order.prefix(16).allSatisfy { $0 == "h" })
    }

    @Test func `work of each priority can be withdrawn and cancelled`() {
        var work = work(concurrency: 1)
        prioritized(&work, ("first", .low))
        _ = begin(&work)
        prioritized(&work, ("a", .low), ("b", .high), ("c", .normal), ("d", .high))
        work.withdraw { $0 == "a" || $0 == "d" }
        #expect(take(&work) == ["d withdrawn", "a withdrawn"] && work.count == 3)
        #expect(work.cancel { $0 == "b" || $0 == "c" }.isEmpty && work.count == 1)
    }

    @Test func `a rate lets a burst begin, then one at a time, and says when the next one may`() {
        let mailbox = SideWorkMailbox<Int>(wake: {}, onLate: {})
        var work = Work(
            concurrency: 100,
            bound: 100,
            rate: WorkRate(perSecond: 2, burst: 3),
            mailbox: mailbox
        )
        #expect(work.nextInstant(at: start) == nil)
        for number in 0..<10 { add("\(number)", to: &work, within: 1000) }
        func begun(_ milliseconds: Int) -> Int {
            var count = 0
            work.begin(at: start + .milliseconds(milliseconds)) { _, _ in count += 1 }
            return count
        }
        #expect(begun(0) == 3 && begun(0) == 0)
        #expect(work.nextInstant(at: start) == start + .milliseconds(500))
        #expect(begun(499) == 0 && begun(500) == 1 && begun(501) == 0)
        #expect(begun(1500) == 2, "tokens gather while nothing begins")
        #expect(begun(60_000) == 3, "but not more than the burst")
        #expect(begun(60_500) == 1 && begun(61_000) == 0 && work.count == 10)
    }

    @Test func `while the concurrency is reached the rate wakes nobody`() {
        let mailbox = SideWorkMailbox<Int>(wake: {}, onLate: {})
        var work = Work(concurrency: 1, bound: 10, rate: WorkRate(perSecond: 1, burst: 1), mailbox: mailbox)
        add("a", "b", to: &work, within: 100)
        #expect(begin(&work).count == 1)
        #expect(work.nextInstant(at: start) == after(100))
    }
}
