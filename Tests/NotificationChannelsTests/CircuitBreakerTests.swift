import OutboundHTTP
import Testing

@testable import NotificationChannels

struct CircuitBreakerTests {
    private var breaker = CircuitBreaker(
        .init(failures: 3, firstPause: 1000, longestPause: 3000, longestRequest: 60_000)
    )

    private mutating func pass(at now: Int64) throws -> CircuitBreaker.Pass {
        guard case .admitted(let pass) = breaker.admit(at: now) else {
            throw Refused()
        }
        return pass
    }

    private struct Refused: Error {}

    private mutating func fail(at now: Int64, _ request: Int64? = nil, jitter: Double = 0) throws
        -> CircuitBreaker.Change?
    {
        breaker.note(.failure(retryAfter: request), of: try pass(at: now), at: now, jitter: jitter)
    }

    @Test mutating func `failures in a row open it, and a success between them does not let it come to that`() throws {
        for _ in 0..<5 {
            #expect(try fail(at: 0) == nil && fail(at: 0) == nil)
            #expect(breaker.note(.success, of: try pass(at: 0), at: 0, jitter: 0) == nil)
        }
        #expect(try fail(at: 0) == nil && fail(at: 0) == nil)
        #expect(try fail(at: 0) == .opened(pause: 1000))
        #expect(breaker.admit(at: 1) == .refused(retryAfter: 999))
        #expect(!breaker.isClosed)
    }

    @Test mutating func `after the pause a single request tests the endpoint, and its success closes`() throws {
        for _ in 0..<3 { _ = try fail(at: 0) }
        #expect(breaker.admit(at: 999) == .refused(retryAfter: 1))
        let test = try pass(at: 1000)
        #expect(breaker.admit(at: 1000) == .refused(retryAfter: 1000), "the test is not answered yet")
        #expect(breaker.note(.success, of: test, at: 1001, jitter: 0) == .closed)
        _ = try pass(at: 1001)
        #expect(try breaker.isClosed && fail(at: 1001) == nil)
    }

    @Test mutating func `each failed test doubles the pause up to the longest`() throws {
        for _ in 0..<3 { _ = try fail(at: 0) }
        #expect(try fail(at: 1000) == .remainsOpen(pause: 2000))
        #expect(try fail(at: 3000) == .remainsOpen(pause: 3000))
        #expect(try fail(at: 6000) == .remainsOpen(pause: 3000))
        #expect(breaker.note(.success, of: try pass(at: 9000), at: 9000, jitter: 0) == .closed)
        #expect(try fail(at: 9000) == nil && fail(at: 9000) == nil)
        #expect(try fail(at: 9000) == .opened(pause: 1000), "the pauses begin again")
    }

    @Test mutating func `the endpoint may request a longer pause, and jitter only lengthens pauses`() throws {
        for _ in 0..<2 { _ = try fail(at: 0) }
        #expect(try fail(at: 0, 60_000) == .opened(pause: 60_000))
        #expect(try fail(at: 60_000, jitter: 0.5) == .remainsOpen(pause: 2250))
    }

    @Test(arguments: [0, 0.5, 0.99]) mutating func `it tests the endpoint at least once in the longest request`(
        _ jitter: Double
    ) throws {
        for (request, bound) in [(50_000, 50_000...60_000), (60_000, 45_000...60_000), (.max, 45_000...60_000)]
            as [(Int64, ClosedRange<Int64>)]
        {
            breaker = CircuitBreaker(breaker.limits)
            for _ in 0..<2 { _ = try fail(at: 0) }
            guard case .opened(let pause) = try fail(at: 0, request, jitter: jitter) else { throw Refused() }
            #expect(bound.contains(pause))
        }
    }

    @Test mutating func `the next request tests it when someone says so, and only then`() throws {
        let isOpen = breaker.testNext(at: 0)
        #expect(!isOpen)
        for _ in 0..<3 { _ = try fail(at: 0, 60_000) }
        let wasOpen = breaker.testNext(at: 10)
        #expect(wasOpen)
        let test = try pass(at: 10)
        #expect(breaker.admit(at: 10) == .refused(retryAfter: 1000), "a single one")
        #expect(breaker.note(.success, of: test, at: 11, jitter: 0) == .closed)
    }

    @Test mutating func `outcomes of requests from before do not count`() throws {
        let old = (try pass(at: 0), try pass(at: 0))
        for _ in 0..<3 { _ = try fail(at: 0) }
        #expect(breaker.note(.success, of: old.0, at: 1, jitter: 0) == nil && !breaker.isClosed)
        let test = try pass(at: 1000)
        #expect(breaker.note(.failure(retryAfter: nil), of: old.1, at: 1000, jitter: 0) == nil)
        #expect(breaker.note(.success, of: test, at: 1000, jitter: 0) == .closed)
    }

    @Test mutating func `after a test that was cancelled the next request is the test`() throws {
        for _ in 0..<3 { _ = try fail(at: 0) }
        #expect(breaker.note(.cancelled, of: try pass(at: 1000), at: 1000, jitter: 0) == nil)
        #expect(!breaker.isClosed)
        #expect(breaker.note(.success, of: try pass(at: 1000), at: 1000, jitter: 0) == .closed)
    }

    @Test mutating func `a cancelled request neither counts as a failure nor ends a row of them`() throws {
        #expect(try fail(at: 0) == nil && fail(at: 0) == nil)
        for _ in 0..<5 { #expect(breaker.note(.cancelled, of: try pass(at: 0), at: 0, jitter: 0) == nil) }
        #expect(try fail(at: 0) == .opened(pause: 1000))
    }
}
