import Testing

@testable import NotificationConsumer

struct FreedMemoryTests {
    private final class Count {
        var value = 0
    }

    @Test func `memory is released some time after a burst, and not again before the next one`() {
        let (released, start) = (Count(), ContinuousClock.now)
        var memory = FreedMemory { released.value += 1 }
        func after(_ seconds: Int, _ work: Int) -> Int {
            memory.note(work: work, at: start + .seconds(seconds))
            return released.value
        }
        // Too little memory, however long the lane is idle.
        #expect(after(0, 9_999) == 0 && after(60, 9_999) == 0)
        // During work, and shortly after it.
        #expect(after(61, 20_000) == 0 && after(70, 30_000) == 0 && after(74, 30_000) == 0)
        #expect(after(75, 30_000) == 1)
        #expect(after(200, 30_000) == 1 && after(201, 39_999) == 1 && after(300, 39_999) == 1)
        #expect(after(301, 40_000) == 1 && after(306, 40_000) == 2)
    }
}
