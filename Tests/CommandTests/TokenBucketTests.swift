import Testing

@testable import carillon

@Suite("The rate limit")
struct TokenBucketTests {
    private let start = ContinuousClock.now

    /// The number of tokens taken in a time by a caller that waits exactly as required, and each wait.
    private func taken(_ bucket: inout TokenBucket, from begin: Duration, for time: Duration) -> Int {
        var now = start + begin
        var count = 0
        while now < start + begin + time {
            if let wait = bucket.take(at: now) {
                #expect(wait > .zero)
                now += wait
            } else {
                count += 1
            }
        }
        return count
    }

    @Test(arguments: [0.5, 1, 3, 10, 333, 20_000])
    func `over a long time every rate is exact`(_ perSecond: Double) {
        var bucket = TokenBucket(perSecond: perSecond, now: start)
        let count = taken(&bucket, from: .zero, for: .seconds(20))
        // One at the start, and rounding.
        #expect(abs(Double(count) - perSecond * 20) <= 1 + perSecond * 0.001)
    }

    @Test func `the first one does not wait, the second does`() {
        var bucket = TokenBucket(perSecond: 4, now: start)
        #expect(bucket.take(at: start) == nil)
        #expect(bucket.take(at: start) == .milliseconds(250))
        #expect(bucket.take(at: start + .milliseconds(100)) == .milliseconds(150))
        #expect(bucket.take(at: start + .milliseconds(250)) == nil)
    }

    @Test func `a pause is not followed by a burst`() {
        var bucket = TokenBucket(perSecond: 100, now: start)
        var burst = 0
        while bucket.take(at: start + .seconds(60)) == nil { burst += 1 }
        #expect(burst == 5)
        #expect(taken(&bucket, from: .seconds(60), for: .seconds(1)) <= 100)
    }

    @Test func `a clock that goes back gives no tokens`() {
        var bucket = TokenBucket(perSecond: 1, now: start)
        #expect(bucket.take(at: start) == nil)
        #expect(bucket.take(at: start - .seconds(60)) == .seconds(1))
        #expect(bucket.take(at: start) == .seconds(1))
    }
}
