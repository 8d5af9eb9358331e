import HeapModule

/// Simulated time: future events, in order. Only one thread uses it.
///
/// An event may advance the time (`advance`): the events due until then run inside it, as other processes run while one
/// process waits. Events at the same instant run in the order in which they were added.
final class Timeline {
    private struct Event: Comparable {
        let at: Int64
        let order: UInt64
        let action: () -> Void

        static func < (a: Self, b: Self) -> Bool { (a.at, a.order) < (b.at, b.order) }
        static func == (a: Self, b: Self) -> Bool { a.order == b.order }
    }

    let clock: SimulatedClock
    /// Called after every event.
    var afterEvent: () -> Void = {}
    private var events = Heap<Event>()
    private var order: UInt64 = 0

    init(clock: SimulatedClock) {
        self.clock = clock
    }

    /// Microseconds since the start.
    var now: Int64 { clock.elapsed }

    /// The time of the next event.
    var next: Int64? { events.min?.at }

    /// Runs an action at an instant, or now if the instant has passed.
    func add(at instant: Int64, _ action: @escaping () -> Void) {
        order += 1
        events.insert(Event(at: max(instant, now), order: order, action: action))
    }

    func add(after microseconds: Int64, _ action: @escaping () -> Void) {
        add(at: now + microseconds, action)
    }

    /// Advances the time to an instant, or further when an event on the way takes longer.
    func advance(to instant: Int64) {
        while let event = events.min, event.at <= instant {
            step()
        }
        clock.advance(to: instant)
    }

    /// Drops all future events.
    func end() {
        events = Heap()
    }

    /// Runs the next event.
    ///
    /// - Returns: false if there is none.
    @discardableResult
    func step() -> Bool {
        guard let event = events.popMin() else { return false }
        clock.advance(to: event.at)
        event.action()
        afterEvent()
        return true
    }
}
