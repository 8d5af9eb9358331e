import NIOCore
import Testing

@testable import OutboundHTTP

/// Which requests go over which connection.
struct HTTP2PoolPlanTests {
    private var pool = PlannedPool()

    @Test mutating func `a connection gets a request only after the first SETTINGS`() throws {
        pool.maxStreams = nil
        let request = pool.submit()
        #expect(pool.plan.connections.map(\.state) == [.settling])
        #expect(pool.sent.isEmpty)
        pool.settle(try #require(pool.ids.first), 100)
        #expect(pool.isSent(request))
    }

    @Test
    mutating func `one request at a time until the first success, whatever SETTINGS say; then as many as they say`()
        throws
    {
        pool = PlannedPool(PlannedPool.settings { $0.connections = 1 })
        let requests = pool.submit(300)
        #expect(pool.inFlight == [requests[0]])
        pool.answer(requests[0], 400)
        #expect(pool.inFlight == [requests[1]])
        pool.answer(requests[1], 200)
        let connection = try #require(pool.connection(pool.ids[0]))
        #expect(connection.state == .ready)
        #expect(connection.requests.count == 90, "ten of a hundred are reserved")
    }

    @Test mutating func `SETTINGS count at their newest value, also when they allow less than there are`() throws {
        pool = PlannedPool(PlannedPool.settings { $0.connections = 1 })
        pool.warmUp()
        let id = pool.ids[0]
        pool.settle(id, 1)
        let requests = pool.submit(20)
        #expect(pool.inFlight == [requests[0]])
        pool.settle(id, 10)
        #expect(pool.inFlight.count == 9)
        pool.settle(id, 5)
        pool.answer(Array(requests[0..<5]))
        #expect(pool.inFlight.count == 4)
        pool.settle(id, 0)
        pool.answer(pool.inFlight)
        #expect(pool.inFlight.isEmpty && pool.plan.waiting > 0)
    }

    @Test mutating func `SETTINGS without a number of streams change nothing`() {
        pool.warmUp()
        pool.settle(pool.ids[0], nil)
        #expect(pool.connection(pool.ids[0])?.maxStreams == 100)
    }

    @Test mutating func `a server that allows any number of streams gets a bounded one`() {
        pool = PlannedPool(PlannedPool.settings { ($0.connections, $0.streams, $0.reservedShare) = (1, 300, 0) })
        pool.maxStreams = Int(UInt32.max)
        pool.warmUp()
        _ = pool.submit(1000)
        #expect(pool.inFlight.count == 300)
    }

    @Test mutating func `requests with high priority go first, and have streams that the others do not get`() {
        pool = PlannedPool(PlannedPool.settings { $0.connections = 1 })
        pool.warmUp()
        let mass = pool.submit(200, .low) + pool.submit(200, .normal)
        #expect(pool.inFlight.count == 90)
        let urgent = pool.submit(15, .high)
        #expect(urgent.prefix(10).allSatisfy(pool.isSent), "the reserved ones at once")
        #expect(!urgent.suffix(5).contains(where: pool.isSent), "no more than the server allows")
        pool.answer(Array(mass.prefix(5)))
        #expect(urgent.allSatisfy(pool.isSent))
        pool.answer(pool.inFlight)
        #expect(pool.inFlight == Array(mass[200..<290]), "normal before low")
    }

    @Test mutating func `what requests with high priority use counts as reserved, so that others get all that is left`()
    {
        pool = PlannedPool(PlannedPool.settings { $0.connections = 1 })
        pool.warmUp()
        let urgent = pool.submit(25, .high)
        let mass = pool.submit(200)
        #expect(urgent.allSatisfy(pool.isSent) && pool.inFlight.count == 100)
        pool.answer(urgent)
        #expect(pool.inFlight.count == 90, "they are reserved again")
        pool.answer(Array(mass.prefix(50)))
        #expect(pool.inFlight.count == 90)
    }

    @Test mutating func `without a share no stream is reserved`() {
        pool = PlannedPool(PlannedPool.settings { ($0.connections, $0.reservedShare) = (1, 0) })
        pool.warmUp()
        _ = pool.submit(200)
        #expect(pool.inFlight.count == 100)
    }

    @Test mutating func `bodies wait for the window of the connection, and leave a part of it to high priority`() {
        pool = PlannedPool(PlannedPool.settings { $0.connections = 1 })
        pool.warmUp()
        let mass = pool.submit(40, size: 4096)
        #expect(pool.inFlight.count == 12, "(65,535 - 16,384) / 4,096, and the one that passes the bound")
        let urgent = pool.submit(5, .high, size: 4096)
        #expect(urgent.prefix(3).allSatisfy(pool.isSent))
        #expect(!pool.isSent(urgent[4]))
        pool.plan.windowUpdated(pool.ids[0], by: 20_000)
        pool.proceed()
        #expect(pool.isSent(urgent[4]))
        #expect(!pool.isSent(mass[12]))
        pool.plan.windowUpdated(pool.ids[0], by: 1_000_000)
        pool.proceed()
        #expect(mass.allSatisfy(pool.isSent))
    }

    @Test mutating func `a body that is larger than the window is sent when nothing else is under way`() {
        pool.warmUp()
        let requests = pool.submit(2, size: 200_000)
        #expect(pool.inFlight == [requests[0]])
        pool.answer(requests[0])
        #expect(pool.inFlight == [requests[1]])
    }

    @Test mutating func `a connection whose socket takes no more gets only requests with high priority`() {
        pool = PlannedPool(PlannedPool.settings { $0.connections = 1 })
        pool.warmUp()
        let first = pool.submit()
        pool.plan.writabilityChanged(pool.ids[0], isWritable: false)
        let (normal, high) = (pool.submit(), pool.submit(.high))
        #expect(pool.inFlight == [first, high])
        pool.plan.writabilityChanged(pool.ids[0], isWritable: true)
        pool.proceed()
        #expect(pool.isSent(normal))
    }

    @Test
    mutating func
        `a request whose deadline passes while it waits was not sent; one without an answer may be processed`()
    {
        pool.warmUp()
        pool.settle(pool.ids[0], 1)
        let (sent, waits) = (pool.submit(), pool.submit(within: .seconds(2)))
        pool.pass(.seconds(2))
        #expect(pool.failures[waits]?.clientCode == .timedOut && pool.failures[waits]?.isSent == false)
        #expect(pool.failures[sent] == nil)
        pool.pass(.seconds(3))
        #expect(pool.failures[sent]?.clientCode == .timedOut && pool.failures[sent]?.isSent == true)
        #expect(pool.resets == [pool.sent[sent]])
        pool.answer(sent)
        #expect(pool.answers[sent] == nil, "a late answer is no second result")
    }

    @Test mutating func `queues are bounded by priority`() {
        pool = PlannedPool(PlannedPool.settings { $0.waiting = 3 })
        pool.maxStreams = nil
        let requests = pool.submit(4)
        #expect(pool.failures[requests[3]]?.clientCode == .overloaded && pool.failures[requests[3]]?.isSent == false)
        pool.submit(.high)
        #expect(pool.failures.count == 1)
    }

    @Test mutating func `a cancelled request that waits is not sent, one that is sent loses its stream`() {
        pool.warmUp()
        pool.settle(pool.ids[0], 1)
        let (sent, waits) = (pool.submit(), pool.submit())
        pool.cancel(waits)
        #expect(pool.failures[waits] == .cancelled)
        pool.cancel(sent)
        #expect(pool.failures[sent]?.clientCode == .cancelled && pool.failures[sent]?.isSent == true)
        #expect(pool.resets == [pool.sent[sent]])
        #expect(pool.plan.requests.count == 0)
    }

    @Test mutating func `requests go to the connection with the most free streams`() throws {
        pool = PlannedPool(PlannedPool.settings { $0.connections = 2 })
        pool.maxStreams = 10
        pool.warmUp()
        let burst = pool.submit(60)
        pool.pass(.seconds(2))
        #expect(pool.ids.count == 2)
        pool.answer(burst.filter(pool.isSent))
        while pool.plan.waiting > 0 || !pool.inFlight.isEmpty { pool.answer(pool.inFlight) }
        let requests = pool.submit(6)
        let counts = pool.plan.connections.map(\.requests.count)
        #expect(counts == [3, 3], "\(requests)")
    }

    @Test mutating func `shutdown sends nothing more, waits for answers until the deadline, and closes`() {
        pool = PlannedPool(PlannedPool.settings { $0.connections = 1 })
        pool.warmUp()
        pool.settle(pool.ids[0], 2)
        let requests = pool.submit(4)
        pool.plan.shutdown(by: pool.now + .seconds(3))
        pool.proceed()
        #expect(pool.failures[requests[3]] == .closed)
        let late = pool.submit()
        #expect(pool.failures[late] == .closed)
        pool.answer(requests[0])
        #expect(pool.plan.isOver && pool.closed.count == 1)
        #expect(pool.plan.nextTime(at: pool.now) == nil)
    }

    @Test mutating func `at the deadline of a shutdown what has no answer fails, and may be processed`() {
        pool.warmUp()
        let request = pool.submit(within: .seconds(60))
        pool.plan.shutdown(by: pool.now + .seconds(3))
        pool.pass(.seconds(2))
        #expect(!pool.plan.isOver)
        pool.pass(.seconds(1))
        #expect(pool.plan.isOver)
        #expect(pool.failures[request]?.clientCode == .cancelled && pool.failures[request]?.isSent == true)
    }
}
