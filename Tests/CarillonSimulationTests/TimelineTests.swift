import NotificationModel
import Testing

@testable import CarillonSimulation

struct TimelineTests {
    private let timeline = Timeline(clock: SimulatedClock())

    @Test func `events run in the order of their instants, equal ones as they were added`() {
        var seen: [String] = []
        timeline.add(at: 20) { seen.append("c") }
        timeline.add(at: 10) { seen.append("a") }
        timeline.add(at: 10) { seen.append("b") }
        timeline.advance(to: 15)
        #expect(seen == ["a", "b"])
        #expect(timeline.now == 15)
        timeline.advance(to: 20)
        #expect(seen == ["a", "b", "c"])
    }

    @Test func `events that are due while an event waits run inside it`() {
        var seen: [String] = []
        timeline.add(at: 10) { [timeline] in
            seen.append("begin")
            timeline.advance(to: 30)
            seen.append("end \(timeline.now)")
        }
        timeline.add(at: 20) { [timeline] in
            seen.append("other")
            timeline.advance(to: 50)
        }
        timeline.advance(to: 40)
        #expect(seen == ["begin", "other", "end 50"])
        #expect(timeline.now == 50, "time never goes back")
    }

    @Test func `a wall clock can jump, the monotonic clock cannot`() {
        let clock = timeline.clock
        let machine = MachineClock(clock, error: 80)
        #expect(machine.wall == SimulatedClock.beginning.adding(milliseconds: 80))
        timeline.advance(to: 5_000_000)
        let before = clock.instant
        machine.set(error: -60_000)
        #expect(machine.wall == SimulatedClock.beginning.adding(milliseconds: 5_000 - 60_000))
        #expect(clock.instant == before)
        #expect(clock.elapsed(at: before) == 5_000_000)
        #expect(SimulatedClock.elapsed(at: clock.wall) == 5_000_000)
    }
}
