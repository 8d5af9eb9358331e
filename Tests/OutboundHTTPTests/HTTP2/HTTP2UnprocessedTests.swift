import NIOCore
import Testing

@testable import OutboundHTTP

/// What is sent again, and what is not.
struct HTTP2UnprocessedTests {
    private var pool = PlannedPool()

    @Test
    mutating func `streams above the last one of a GOAWAY are sent again over another connection, in their order`() {
        pool.warmUp()
        let id = pool.ids[0]
        let requests = pool.submit(6)
        pool.goAway(id, last: pool.sent[requests[2]]?.stream ?? 0)
        #expect(pool.events.contains(.resent(id, 3)))
        #expect(pool.connection(id)?.state == .draining)
        let other = pool.ids[1]
        while pool.plan.waiting > 0 { pool.answer(pool.inFlight.filter { pool.sent[$0]?.connection == other }) }
        #expect(pool.order.filter { pool.sent[$0]?.connection == other }.prefix(3) == requests[3...5])
        #expect(
            requests[0...2].allSatisfy { pool.sends[$0] == 1 } && requests[3...5].allSatisfy { pool.sends[$0] == 2 }
        )
        pool.answer(Array(requests[0...2]))
        #expect(pool.answers[requests[0]] == 200)
    }

    @Test mutating func `after a GOAWAY a connection closes when its last answer has come`() {
        pool.warmUp()
        let id = pool.ids[0]
        let request = pool.submit()
        pool.goAway(id, last: .max)
        #expect(pool.closed.isEmpty)
        pool.answer(request)
        #expect(pool.closed == [id])
        #expect(pool.failures.isEmpty)
    }

    @Test mutating func `a second GOAWAY with an earlier stream has more sent again`() {
        pool.warmUp()
        let id = pool.ids[0]
        let requests = pool.submit(4)
        pool.goAway(id, last: Int(Int32.max))
        #expect(requests.allSatisfy { pool.sends[$0] == 1 })
        pool.goAway(id, last: pool.sent[requests[1]]?.stream ?? 0)
        #expect(pool.plan.usage.resent == 2)
        pool.lose(id)
        #expect(pool.failures.keys.sorted() == Array(requests[0...1]))
    }

    @Test mutating func `nothing is sent again that was sent over a connection that is lost`() {
        pool.warmUp()
        let requests = pool.submit(5)
        pool.lose(pool.ids[0])
        for request in requests {
            #expect(pool.failures[request]?.clientCode == .disconnected && pool.failures[request]?.isSent == true)
            #expect(pool.sends[request] == 1)
        }
    }

    @Test
    mutating func `a refused stream is sent again after a pause, with fewer at one time, which grow with each success`()
    {
        pool = PlannedPool(PlannedPool.settings { $0.connections = 1 })
        pool.warmUp()
        let requests = pool.submit(8)
        for request in requests.suffix(4) { pool.refuse(request) }
        pool.proceed()
        #expect(pool.inFlight == Array(requests.prefix(4)))
        #expect(pool.plan.usage.resent == 4)
        pool.answer(Array(requests.prefix(4)))
        #expect(pool.inFlight.isEmpty, "the pause")
        pool.pass(.milliseconds(20))
        #expect(Set(pool.inFlight) == Set(requests.suffix(4)))
        pool.answer(pool.inFlight)
        #expect(pool.answers.count == 9 && pool.failures.isEmpty)
    }

    @Test mutating func `a server that refuses everything is asked more and more seldom, until the deadline`() {
        pool = PlannedPool(PlannedPool.settings { $0.connections = 1 })
        pool.warmUp()
        let request = pool.submit(within: .seconds(10))
        for _ in 0..<1000 {
            if pool.isSent(request) { pool.refuse(request) }
            pool.pass(.milliseconds(10))
        }
        #expect((5...12).contains(pool.sends[request] ?? 0))
        #expect(pool.failures[request]?.clientCode == .timedOut && pool.failures[request]?.isSent == false)
    }

    @Test mutating func `a refusal without a pause leaves other connections alone`() {
        pool = PlannedPool(PlannedPool.settings { $0.connections = 2 })
        pool.maxStreams = 2
        pool.warmUp()
        let burst = pool.submit(10)
        pool.pass(.seconds(3))
        #expect(pool.ids.count == 2)
        pool.answer(pool.inFlight)
        let refused = pool.inFlight[0]
        pool.refuse(refused)
        pool.proceed()
        #expect(pool.isSent(refused) || pool.plan.waiting > 0)
        while !pool.inFlight.isEmpty { pool.answer(pool.inFlight) }
        pool.pass(.seconds(1))
        while !pool.inFlight.isEmpty { pool.answer(pool.inFlight) }
        #expect(burst.allSatisfy { pool.answers[$0] == 200 })
    }

    @Test mutating func `a GOAWAY before the first SETTINGS is a failure to open`() {
        pool.maxStreams = nil
        let request = pool.submit(within: .seconds(60))
        let id = pool.ids[0]
        pool.goAway(id, last: 0, code: 2)
        #expect(pool.closed == [id])
        #expect(pool.sends[request] == nil)
        pool.pass(.milliseconds(999))
        #expect(pool.begun.count == 1)
        pool.pass(.milliseconds(1))
        #expect(pool.begun.count == 2)
    }

    @Test mutating func `what a budget allows follows the traffic`() {
        var budget = RetryBudget(share: 0.1, reserve: 2)
        func taken() -> Int { (0..<5).count { _ in budget.takeRepeat() } }
        #expect(taken() == 2)
        for _ in 0..<9 { budget.noteFirstAttempt() }
        #expect(taken() == 0)
        budget.noteFirstAttempt()
        #expect(taken() == 1)
        for _ in 0..<1000 { budget.noteFirstAttempt() }
        #expect(taken() == 2, "not more than the reserve at once")
    }
}
