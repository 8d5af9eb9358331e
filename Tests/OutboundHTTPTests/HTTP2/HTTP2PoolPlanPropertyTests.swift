import NIOCore
import Testing

@testable import OutboundHTTP

/// Random sequences of events, after each of which the claims hold.
struct HTTP2PoolPlanPropertyTests {
    private struct Generator: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var z = state
            z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
            return z ^ (z >> 31)
        }
    }

    /// What the server of a run knows: which requests it has processed, and what it has said.
    private struct Run {
        var pool: PlannedPool
        var random: Generator
        /// Connection and stream of each request that the server may have processed.
        var processed: [Int: Int] = [:]
        var requests: [Int] = []

        init(seed: UInt64) {
            random = Generator(state: seed)
            let settings = PlannedPool.settings {
                ($0.connections, $0.waiting, $0.opensPerSecond, $0.opensAtOnce) = (3, 50, 2, 3)
                ($0.pingAfter, $0.pingTimeout, $0.age, $0.idleTimeout) = (
                    .seconds(20), .seconds(5), .minutes(2), .seconds(45)
                )
            }
            var jitter = Generator(state: seed ^ 0xFF)
            pool = PlannedPool(settings, random: { Double.random(in: 0..<1, using: &jitter) })
            pool.addresses = (0..<3).map { IPAddress(v4: $0) }
            pool.maxStreams = [nil, 1, 4, 20].randomElement(using: &random) ?? nil
        }

        mutating func step() {
            switch Int.random(in: 0..<100, using: &random) {
            case ..<35:
                let priority = HTTP2Request.Priority.allCases.randomElement(using: &random) ?? .normal
                let size = [0, 100, 4096, 30_000].randomElement(using: &random) ?? 0
                let time = TimeAmount.milliseconds(.random(in: 50...12_000, using: &random))
                requests.append(pool.submit(priority, size: size, within: time))
            case ..<65:
                if let request = pool.inFlight.randomElement(using: &random) {
                    pool.answer(request, [200, 200, 200, 400, 410, 503].randomElement(using: &random) ?? 200)
                }
            case ..<69:
                if let request = pool.inFlight.randomElement(using: &random) { refuse(request) }
            case ..<72:
                if let id = pool.ids.randomElement(using: &random) { goAway(id) }
            case ..<74:
                if let id = pool.ids.randomElement(using: &random) { pool.lose(id) }
            case ..<80:
                if let id = pool.ids.randomElement(using: &random) {
                    pool.settle(id, [nil, 0, 1, 2, 10, 50].randomElement(using: &random) ?? nil)
                }
            case ..<84:
                if let id = pool.ids.randomElement(using: &random) {
                    pool.plan.windowUpdated(id, by: .random(in: 1...60_000, using: &random))
                    pool.plan.heard(id, at: pool.now)
                    pool.proceed()
                }
            case ..<86:
                if let id = pool.ids.randomElement(using: &random) {
                    pool.plan.writabilityChanged(id, isWritable: .random(using: &random))
                    pool.proceed()
                }
            case ..<88:
                if let request = requests.randomElement(using: &random) { pool.cancel(request) }
            case ..<89:
                if let id = pool.ids.randomElement(using: &random) {
                    pool.plan.retire(id, .requested)
                    pool.proceed()
                }
            case ..<90:
                let failing = IPAddress(v4: .random(in: 0..<3, using: &random))
                pool.opens = { $0 != failing }
            case ..<91: pool.opens = { _ in true }
            default: pool.pass(.milliseconds(.random(in: 1...2_000, using: &random)))
            }
        }

        /// The request is free to be sent once more.
        private mutating func refuse(_ request: Int) {
            let before = pool.sends[request]
            pool.refuse(request)
            #expect(!pool.isSent(request), "a refused request waits")
            #expect(pool.sends[request] == before)
            permitted[request, default: 1] += 1
            pool.proceed()
        }

        private mutating func goAway(_ id: HTTP2ConnectionID) {
            let streams = pool.inFlight.filter { pool.sent[$0]?.connection == id }
            let last = streams.compactMap { pool.sent[$0]?.stream }.randomElement(using: &random) ?? 0
            for request in streams where (pool.sent[request]?.stream ?? 0) > last {
                permitted[request, default: 1] += 1
            }
            pool.goAway(id, last: last, code: Int.random(in: 0...1, using: &random))
        }

        /// How often each request may have been sent.
        var permitted: [Int: Int] = [:]

        func check() {
            var counts: [HTTP2ConnectionID: Int] = [:]
            for request in pool.inFlight { counts[pool.sent[request]?.connection ?? .init(number: 0), default: 0] += 1 }
            for connection in pool.plan.connections {
                #expect(connection.requests.count == counts[connection.id] ?? 0)
                if connection.isOpening { #expect(connection.requests.isEmpty, "no request before the first SETTINGS") }
            }
            for (request, count) in pool.sends {
                #expect(count <= permitted[request] ?? 1, "sent again though it may have been processed")
            }
            let live = pool.plan.connections.filter { $0.state != .draining }.count
            #expect(live <= 2 * pool.plan.settings.connections)
            #expect(pool.plan.connections.count <= 2 * pool.plan.settings.connections)
            for priority in HTTP2Request.Priority.allCases {
                let most = pool.plan.settings.waiting + 200
                #expect(pool.plan.queues[priority.rawValue].count <= most)
            }
            let results = pool.answers.count + pool.failures.count
            #expect(results + pool.plan.requests.count == requests.count, "a result each, or none yet")
        }
    }

    @Test(arguments: [UInt64](1...25)) func `claims hold in every order of events`(seed: UInt64) {
        var run = Run(seed: seed)
        var allowed: [HTTP2ConnectionID: Int] = [:]
        for _ in 0..<800 {
            let before = run.pool.sends.values.reduce(0, +)
            run.step()
            run.check()
            for connection in run.pool.plan.connections {
                // SETTINGS may allow less than there are; then there is none more.
                let most = max(connection.allowance, allowed[connection.id] ?? 0)
                let count = connection.requests.count
                #expect(connection.state == .draining || count <= most)
                allowed[connection.id] = max(connection.allowance, min(count, most))
            }
            #expect(run.pool.sends.values.reduce(0, +) >= before)
        }
        // So many connections as the bucket allows, whatever has happened.
        let begun = run.pool.begun.map(\.at)
        for (index, start) in begun.enumerated() {
            let inTen = begun[index...].prefix { $0 < start + .seconds(10) }.count
            #expect(inTen <= 3 + 20)
        }
        run.pool.opens = { _ in true }
        run.pool.plan.shutdown(by: run.pool.now + .seconds(5))
        run.pool.pass(.seconds(5))
        #expect(run.pool.plan.isOver)
        #expect(run.pool.answers.count + run.pool.failures.count == run.requests.count, "each has exactly one result")
        #expect(run.pool.plan.nextTime(at: run.pool.now) == nil)
    }
}
