import ServiceSupport
import Synchronization
import Testing

/// The supervision of threads, with a clock that the test advances.
struct HealthTests {
    private final class Time: Sendable {
        private let start = ContinuousClock.now
        private let passed = Mutex(Duration.zero)
        var now: ContinuousClock.Instant { start + passed.withLock { $0 } }
        func pass(_ seconds: Int) { passed.withLock { $0 += .seconds(seconds) } }
    }

    @Test func `a thread that beats and then stalls makes the service not live, and is named`() {
        let time = Time()
        let health = Health(stallTimeout: .seconds(60)) { time.now }
        let (lane, other, silent) = (
            health.component("lane-0"), health.component("lane-1"), health.component("http")
        )
        // A component without beats is not supervised: it may have no thread, or wait for a broker before it begins.
        silent.ready()
        time.pass(1000)
        #expect(health.notLive.isEmpty)
        lane.beat()
        other.beat()
        time.pass(60)
        #expect(health.notLive.isEmpty)
        other.beat()
        time.pass(1)
        #expect(
            health.notLive.map { "\($0.component): \($0.why)" } == ["lane-0: its thread has made no progress for 61 s"]
        )
        // It makes progress again.
        lane.beat()
        #expect(health.notLive.isEmpty)
        // Readiness is independent of it.
        lane.notReady("the broker is away")
        #expect(health.notLive.isEmpty && health.notReady.map(\.component) == ["lane-0", "lane-1"])
        time.pass(3600)
        lane.rest()
        #expect(health.notLive.map(\.component) == ["lane-1"])
        other.rest()
        #expect(health.notLive.isEmpty)
    }
}
