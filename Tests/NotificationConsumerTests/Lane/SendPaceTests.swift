import Testing

@testable import NotificationConsumer

struct SendPaceTests {
    private let start = ContinuousClock.now

    private func after(_ milliseconds: Int) -> ContinuousClock.Instant { start + .milliseconds(milliseconds) }

    @Test func `it is what ended in the last whole window`() {
        var pace = SendPace()
        pace.note(3, at: after(0))
        pace.note(4, at: after(99))
        #expect(pace.lately == 0, "the first window is not over")
        pace.note(5, at: after(100))
        #expect(pace.lately == 7)
        pace.note(0, at: after(199))
        #expect(pace.lately == 7)
        pace.note(0, at: after(200))
        #expect(pace.lately == 5)
        pace.note(0, at: after(300))
        #expect(pace.lately == 0)
    }

    @Test func `a window that is long past says nothing`() {
        var pace = SendPace()
        pace.note(9, at: after(0))
        pace.note(1, at: after(200))
        #expect(pace.lately == 0)
        pace.note(0, at: after(399))
        #expect(pace.lately == 1)
    }
}
