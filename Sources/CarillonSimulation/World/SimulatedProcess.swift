/// A process of the consumer service as the machine sees it: it runs, is stopped for a while, or is gone.
final class SimulatedProcess {
    let name: String
    let clock: MachineClock
    private let timeline: Timeline
    private(set) var isDead = false
    /// Stopped until then, in microseconds; nothing of it runs meanwhile.
    private(set) var pausedUntil: Int64 = 0
    private(set) var pausedSince: Int64 = 0
    /// What waits for `thaw`.
    private var onThaw: [() -> Void] = []
    private var onDeath: [() -> Void] = []
    private var onPause: [() -> Void] = []

    init(name: String, clock: MachineClock, timeline: Timeline) {
        self.name = name
        self.clock = clock
        self.timeline = timeline
    }

    var isPaused: Bool { timeline.now < pausedUntil }

    /// Ends at once: what is in memory is lost.
    func crash() {
        guard !isDead else { return }
        isDead = true
        for action in onDeath { action() }
        forget()
    }

    /// Stops everything of it for so many microseconds, as a machine that sleeps or a process in swap.
    func pause(for microseconds: Int64) {
        guard !isDead else { return }
        if !isPaused { pausedSince = timeline.now }
        pausedUntil = max(pausedUntil, timeline.now + microseconds)
        for action in onPause { action() }
    }

    /// Stops everything of it until `thaw`; to be called while nothing of it is in the middle of a call.
    func freeze() {
        guard !isDead, !isFrozen else { return }
        if !isPaused { pausedSince = timeline.now }
        pausedUntil = .max
        for action in onPause { action() }
    }

    func thaw() {
        guard isFrozen else { return }
        pausedUntil = timeline.now
        let waiting = onThaw
        onThaw = []
        for action in waiting { timeline.add(after: 0, action) }
    }

    private var isFrozen: Bool { pausedUntil == .max }

    /// Runs an action of a stopped process once it goes on.
    func whenResumed(_ action: @escaping () -> Void) {
        if isFrozen { onThaw.append(action) } else { timeline.add(at: pausedUntil, action) }
    }

    /// - Parameters:
    ///   - pause: called when it is stopped.
    ///   - death: called when it ends at once.
    func observe(pause: @escaping () -> Void, death: @escaping () -> Void) {
        onPause.append(pause)
        onDeath.append(death)
    }

    /// It ended in order.
    func forget() {
        (onDeath, onPause) = ([], [])
    }
}
