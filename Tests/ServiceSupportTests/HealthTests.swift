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

    @Test func `a supervised thread that stalls makes the service not live, and is named`() {
        let time = Time()
        let health = Health(stallTimeout: .seconds(60)) { time.now }
        let (lane, other, silent) = (
            health.component("lane-0"), health.component("lane-1"), health.component("http")
        )
        // It may have no thread, or one that has not begun.
        silent.ready()
        time.pass(1000)
        #expect(health.notLive.isEmpty)
        lane.supervised {
            other.supervised {
                time.pass(60)
                #expect(health.notLive.isEmpty)
                other.beat()
                time.pass(1)
                #expect(
                    health.notLive.map { "\($0.component): \($0.why)" } == [
                        "lane-0: its thread has made no progress for 61 s"
                    ]
                )
                // It makes progress again.
                lane.beat()
                #expect(health.notLive.isEmpty)
                // Readiness is independent of it.
                lane.notReady("the broker is away")
                #expect(health.notLive.isEmpty && health.notReady.map(\.component) == ["lane-0", "lane-1"])
            }
            time.pass(61)
            #expect(health.notLive.map(\.component) == ["lane-0"])
        }
        #expect(health.notLive.isEmpty)
    }

    @Test func `whoever beats is supervised only within its work, however it ends`() {
        struct Failure: Error {}
        let time = Time()
        let health = Health(stallTimeout: .seconds(60)) { time.now }
        let component = health.component("cluster")
        component.beat()
        time.pass(61)
        #expect(health.notLive.isEmpty)
        try? component.supervised {
            component.supervised { component.beat() }
            time.pass(61)
            #expect(health.notLive.count == 1)
            throw Failure()
        }
        time.pass(61)
        #expect(health.notLive.isEmpty)
    }
}
