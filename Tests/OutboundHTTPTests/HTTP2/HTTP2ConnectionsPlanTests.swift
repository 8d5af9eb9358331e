import NIOCore
import Testing

@testable import OutboundHTTP

/// Which connections there are, to which addresses, and for how long.
struct HTTP2ConnectionsPlanTests {
    private var pool = PlannedPool()

    private static func retirements(_ events: [HTTP2PoolEvent]) -> [HTTP2PoolEvent.Retirement] {
        events.compactMap { event in
            if case .retired(_, let reason) = event { reason } else { nil }
        }
    }

    // MARK: - How many

    @Test mutating func `nothing is opened before there is a request`() {
        pool.pass(.hours(2))
        #expect(pool.begun.isEmpty)
        pool.submit()
        #expect(pool.begun.count == 1)
    }

    @Test mutating func `there are as many connections as the requests need, up to the bound`() {
        pool = PlannedPool(PlannedPool.settings { ($0.connections, $0.opensPerSecond) = (3, 100) })
        pool.warmUp()
        _ = pool.submit(80)
        #expect(pool.ids.count == 1)
        _ = pool.submit(50)
        #expect(pool.ids.count == 2)
        _ = pool.submit(1000)
        pool.pass(.seconds(1))
        #expect(pool.ids.count == 3)
    }

    @Test mutating func `an answer that comes before the SETTINGS that allow more opens no further connection`() {
        pool.maxStreams = 1
        let requests = pool.submit(50)
        pool.answer(requests[0])
        #expect(pool.begun.count == 1)
        pool.settle(pool.ids[0], 1000)
        pool.pass(.seconds(3))
        #expect(pool.begun.count == 1)
        #expect(requests.dropFirst().allSatisfy(pool.isSent))
    }

    @Test mutating func `a connection that does not open in two seconds gets company`() {
        pool.maxStreams = nil
        pool.addresses = [IPAddress(v4: 1), IPAddress(v4: 2)]
        pool.submit(within: .seconds(60))
        pool.pass(.milliseconds(1999))
        #expect(pool.begun.count == 1)
        pool.pass(.milliseconds(1))
        #expect(Set(pool.begun.map(\.address)) == Set(pool.addresses))
    }

    @Test mutating func `connections that were not needed for a while are closed, but for what is kept`() {
        pool = PlannedPool(PlannedPool.settings { ($0.connections, $0.opensPerSecond) = (4, 100) })
        pool.warmUp()
        _ = pool.submit(400)
        pool.pass(.seconds(1))
        while !pool.inFlight.isEmpty { pool.answer(pool.inFlight) }
        #expect(pool.ids.count == 4)
        // The first look is at a time with many requests, the second at one without.
        for _ in 0..<2 {
            for _ in 0..<10 {
                pool.pass(.minutes(1))
                for id in pool.ids { pool.plan.heard(id, at: pool.now) }
            }
        }
        #expect(pool.ids.count == 1)
        #expect(Self.retirements(pool.events) == [.idle, .idle, .idle])
    }

    // MARK: - Health

    @Test mutating func `deadlines in a row retire a connection, which closes when its last request has ended`() {
        pool = PlannedPool(PlannedPool.settings { $0.oldestUnanswered = .seconds(30) })
        pool.addresses = [IPAddress(v4: 1), IPAddress(v4: 2)]
        pool.warmUp()
        let id = pool.ids[0]
        _ = pool.submit(3, within: .seconds(5))
        let last = pool.submit(within: .seconds(20))
        pool.pass(.seconds(5))
        #expect(Self.retirements(pool.events) == [.unanswered])
        let next = pool.submit()
        #expect(pool.sent[next].map { $0.connection != id } == true, "another one, over the other address")
        #expect(pool.closed.isEmpty)
        pool.answer(last)
        #expect(pool.closed == [id])
    }

    @Test mutating func `an answer between deadlines keeps a connection`() {
        pool = PlannedPool(PlannedPool.settings { $0.oldestUnanswered = .minutes(10) })
        pool.warmUp()
        for _ in 0..<5 {
            _ = pool.submit(2)
            pool.pass(.seconds(5))
            pool.answer(pool.submit())
        }
        #expect(pool.plan.usage.unanswered == 10)
        #expect(pool.begun.count == 1 && Self.retirements(pool.events).isEmpty)
    }

    @Test mutating func `a deadline right after the request was sent is no reproach`() {
        pool.warmUp()
        for _ in 0..<10 {
            pool.submit(within: .milliseconds(900))
            pool.pass(.seconds(1))
        }
        #expect(pool.plan.usage.unanswered == 10)
        #expect(pool.begun.count == 1)
    }

    @Test mutating func `a request without an answer for too long retires its connection, though others are answered`()
    {
        pool.warmUp()
        let stuck = pool.submit(within: .seconds(15))
        for _ in 0..<9 {
            pool.pass(.seconds(1))
            pool.answer(pool.submit())
        }
        #expect(pool.begun.count == 1)
        pool.pass(.seconds(1))
        #expect(Self.retirements(pool.events) == [.unanswered])
        pool.answer(stuck)
        #expect(pool.answers[stuck] == 200)
        #expect(pool.closed == [pool.begun[0].id])
    }

    @Test mutating func `silence is answered with a PING, and a PING without an answer ends the connection`() {
        pool.warmUp()
        let id = pool.ids[0]
        let start = pool.now
        pool.pass(.seconds(59))
        #expect(pool.pings.isEmpty)
        pool.pass(.seconds(1))
        #expect(pool.pings == [id])
        pool.plan.heard(id, at: pool.now)
        pool.pass(.seconds(60))
        #expect(pool.pings == [id, id])
        let request = pool.submit(within: .minutes(1))
        pool.pass(.seconds(9))
        #expect(pool.closed.isEmpty)
        pool.pass(.seconds(1))
        #expect(pool.closed == [id])
        #expect(pool.failures[request]?.clientCode == .disconnected && pool.failures[request]?.isSent == true)
        #expect(pool.now == start + .seconds(130))
    }

    @Test
    mutating func `a connection whose SETTINGS do not come in time is closed, and its requests wait for another one`() {
        pool.maxStreams = nil
        pool.addresses = [IPAddress(v4: 1), IPAddress(v4: 2)]
        let request = pool.submit(within: .minutes(1))
        pool.pass(.seconds(10))
        #expect(pool.closed.first == pool.begun[0].id)
        #expect(pool.failures[request] == nil)
        pool.settle(pool.begun[1].id, 100)
        #expect(pool.isSent(request))
    }

    @Test mutating func `the caller retires a connection: its requests may be answered, no other one goes over it`() {
        pool.warmUp()
        let id = pool.ids[0]
        let under = pool.submit()
        pool.plan.retire(id, .requested)
        pool.proceed()
        let next = pool.submit()
        #expect(pool.sent[next].map { $0.connection != id } == true)
        pool.answer(under)
        #expect(pool.closed == [id])
    }

    // MARK: - Age

    @Test mutating func `a connection without requests ends with its age, shortened by up to a fifth`() {
        for (jitter, minutes) in [(0.0, 60), (0.5, 54), (0.75, 51)] as [(Double, Int64)] {
            pool = PlannedPool(random: { jitter })
            pool.warmUp()
            for _ in 1..<minutes {
                pool.pass(.minutes(1))
                pool.plan.heard(pool.ids.first ?? .init(number: 0), at: pool.now)
            }
            #expect(pool.closed.isEmpty)
            pool.pass(.minutes(1))
            #expect(Self.retirements(pool.events) == [.age])
            #expect(pool.closed.count == 1)
        }
    }

    @Test mutating func `a replacement opens before an old connection stops`() {
        pool = PlannedPool(
            PlannedPool.settings {
                ($0.connections, $0.age, $0.oldestUnanswered) = (1, .minutes(1), .minutes(10))
            }
        )
        pool.warmUp()
        let old = pool.ids[0]
        pool.maxStreams = nil
        let long = pool.submit(within: .minutes(5))
        pool.pass(.seconds(59))
        pool.plan.heard(old, at: pool.now)
        pool.pass(.seconds(1))
        #expect(pool.begun.count == 2)
        let next = pool.submit()
        #expect(pool.sent[next]?.connection == old)
        pool.settle(pool.begun[1].id, 100)
        #expect(pool.connection(old)?.state == .draining)
        let after = pool.submit()
        #expect(pool.sent[after]?.connection == pool.begun[1].id)
        pool.answer([long, next])
        #expect(pool.closed == [old])
    }

    @Test mutating func `before its stream numbers end a connection is replaced`() {
        pool.warmUp()
        let old = pool.ids[0]
        pool.plan.connections[0].nextStream = PlannedHTTP2Connection<Int>.lastStream
        let (last, next) = (pool.submit(), pool.submit())
        #expect(pool.sent[last]?.connection == old)
        #expect(pool.sent[next].map { $0.connection != old } == true)
        #expect(Self.retirements(pool.events) == [.exhausted])
    }

    // MARK: - Opening

    @Test mutating func `connections are spread over the addresses of the host`() {
        pool = PlannedPool(PlannedPool.settings { ($0.connections, $0.opensAtOnce) = (6, 10) })
        pool.addresses = [IPAddress(v4: 1), IPAddress(v4: 2), IPAddress(v4: 3)]
        pool.warmUp()
        _ = pool.submit(2000)
        var counts: [IPAddress: Int] = [:]
        for (_, address, _) in pool.begun { counts[address, default: 0] += 1 }
        #expect(counts == [IPAddress(v4: 1): 2, IPAddress(v4: 2): 2, IPAddress(v4: 3): 2])
        #expect(pool.lookUps.count == 6, "each connection looks the host up")
    }

    @Test mutating func `an address that fails has a pause that doubles to a minute; the others are used meanwhile`() {
        pool = PlannedPool(PlannedPool.settings { $0.opensPerSecond = 1000 })
        pool.opens = { _ in false }
        let start = pool.now
        pool.submit(within: .minutes(10))
        pool.pass(.minutes(5))
        let seconds = pool.begun.map { ($0.at - start).nanoseconds / 1_000_000_000 }
        #expect(seconds == [0, 1, 3, 7, 15, 31, 63, 123, 183, 243])
        pool.addresses.append(IPAddress(v4: 2))
        pool.opens = { $0 == IPAddress(v4: 2) }
        pool.pass(.minutes(1))
        #expect(pool.begun.last?.address == IPAddress(v4: 2))
        #expect(pool.inFlight.count == 1)
    }

    @Test mutating func `jitter shortens a pause by up to a quarter`() {
        pool = PlannedPool(random: { 0.8 })
        pool.opens = { _ in false }
        let start = pool.now
        pool.submit(within: .minutes(10))
        pool.pass(.seconds(3))
        #expect(pool.begun.map { ($0.at - start).nanoseconds / 1_000_000 } == [0, 800, 2400])
    }

    @Test mutating func `an answer ends the pauses of an address`() {
        var breakers = AddressBreakers(first: .seconds(1), longest: .seconds(60))
        let address = IPAddress(v4: 1)
        for _ in 0..<6 { breakers.fail(address, at: pool.now, jitter: 0) }
        func choice(at now: NIODeadline) -> IPAddress? {
            breakers.choose(among: [address], connections: [:], tested: [], at: now, random: 0)
        }
        #expect(choice(at: pool.now) == nil)
        #expect(breakers.end == pool.now + .seconds(32))
        breakers.succeed(address)
        #expect(choice(at: pool.now) == address)
        breakers.fail(address, at: pool.now, jitter: 0)
        #expect(choice(at: pool.now) == nil)
        #expect(breakers.end == pool.now + .seconds(1))
        #expect(
            breakers.choose(
                among: [address],
                connections: [:],
                tested: [address],
                at: pool.now + .seconds(1),
                random: 0
            ) == nil,
            "one connection tests it"
        )
        #expect(choice(at: pool.now + .seconds(1)) == address)
    }

    @Test mutating func `a host that is not resolved is looked up again after pauses, and its requests learn why`() {
        pool = PlannedPool(PlannedPool.settings { $0.opensPerSecond = 1000 })
        pool.addresses = []
        let start = pool.now
        let request = pool.submit(within: .seconds(10))
        pool.pass(.seconds(10))
        #expect(pool.lookUps.map { ($0 - start).nanoseconds / 1_000_000_000 } == [0, 1, 3, 7])
        #expect(pool.failures[request]?.clientCode == .unresolved && pool.failures[request]?.isSent == false)
    }

    @Test mutating func `a server that accepts connections and closes them is not asked again at once`() {
        pool.maxStreams = nil
        pool.submit(within: .minutes(10))
        for _ in 0..<600 {
            for id in pool.ids { pool.lose(id) }
            pool.pass(.milliseconds(100))
        }
        #expect(pool.begun.count == 6, "at 0, 1, 3, 7, 15 and 31 s")
    }

    @Test mutating func `connections that begin in a second are bounded, whatever happens to them`() {
        pool = PlannedPool(PlannedPool.settings { ($0.opensPerSecond, $0.opensAtOnce) = (2, 4) })
        let start = pool.now
        for _ in 0..<1000 {
            pool.submit()
            pool.answer(pool.inFlight)
            for id in pool.ids { pool.lose(id) }
            pool.pass(.milliseconds(10))
            pool.answer(pool.inFlight)
        }
        #expect((20...24).contains(pool.begun.count))
        #expect(pool.now == start + .seconds(10))
    }

    @Test func `connections that begin in a second are bounded over all pools that share a rate`() {
        let rate = HTTP2OpenRate(perSecond: 4, atOnce: 8)
        // Each of them alone may begin as often.
        let settings = PlannedPool.settings { ($0.opensPerSecond, $0.opensAtOnce) = (4, 8) }
        var pools = (0..<20).map { _ in PlannedPool(settings, sharing: rate) }
        func begun() -> Int { pools.reduce(0) { $0 + $1.begun.count } }
        for index in pools.indices { pools[index].submit(within: .minutes(10)) }
        #expect(begun() == 8)
        for _ in 0..<500 {
            for index in pools.indices { pools[index].pass(.milliseconds(10)) }
        }
        #expect(pools.allSatisfy { $0.begun.count == 1 })
        let last = pools.compactMap { $0.begun.last?.at }.max()
        #expect(last == pools.compactMap { $0.begun.first?.at }.min().map { $0 + .seconds(3) })
    }

    @Test mutating func `the pool says how it is`() {
        pool = PlannedPool(PlannedPool.settings { $0.connections = 1 })
        pool.warmUp()
        _ = pool.submit(100)
        var expected = HTTP2PoolUsage()
        (expected.ready, expected.waiting, expected.inFlight, expected.streams, expected.opened) = (1, 10, 90, 100, 1)
        #expect(pool.plan.snapshot() == expected)
    }
}
