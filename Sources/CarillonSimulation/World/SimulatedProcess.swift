/// A process of the consumer service: it runs, is paused, or has ended. While a process is paused nothing in it runs, but time
/// passes.
final class SimulatedProcess {
    let name: String
    let clock: MachineClock
    private let timeline: Timeline
    private(set) var isDead = false
    /// The end of the pause, in microseconds.
    private(set) var pausedUntil: Int64 = 0
    private var pausedSince: Int64 = 0
    /// The end of the last pause that was longer than a session of the group, in microseconds.
    private var longPauseEnd: Int64 = -1
    /// The actions that wait for `thaw`.
    private var onThaw: [() -> Void] = []
    private var onDeath: [() -> Void] = []
    private var onPause: [() -> Void] = []

    init(name: String, clock: MachineClock, timeline: Timeline) {
        self.name = name
        self.clock = clock
        self.timeline = timeline
    }

    var isPaused: Bool { timeline.now < pausedUntil }

    /// Ends the process immediately: the contents of its memory are lost.
    func crash() {
        guard !isDead else { return }
        isDead = true
        for action in onDeath { action() }
        forget()
    }

    /// Pauses the process for a number of microseconds, like a machine in sleep mode or a process that is swapped out.
    func pause(for microseconds: Int64) {
        guard !isDead else { return }
        if !isPaused { pausedSince = timeline.now }
        pausedUntil = max(pausedUntil, timeline.now + microseconds)
        noteLongPause()
        for action in onPause { action() }
    }

    /// Pauses the process until `thaw`. Must not be called during a call of one of its lanes.
    func freeze() {
        guard !isDead, !isFrozen else { return }
        if !isPaused { pausedSince = timeline.now }
        pausedUntil = .max
        for action in onPause { action() }
    }

    func thaw() {
        guard isFrozen else { return }
        pausedUntil = timeline.now
        noteLongPause()
        let waiting = onThaw
        onThaw = []
        for action in waiting { timeline.add(after: 0, action) }
    }

    private func noteLongPause() {
        if pausedUntil - pausedSince > GroupCoordinator.sessionTimeout { longPauseEnd = pausedUntil }
    }

    /// Whether it was paused for longer than a session since then, in microseconds. A call in which other processes ran
    /// may return some time after the pause.
    func wasSuspended(since time: Int64) -> Bool { longPauseEnd > time }

    private var isFrozen: Bool { pausedUntil == .max }

    /// Runs an action of a paused process when it continues.
    func whenResumed(_ action: @escaping () -> Void) {
        if isFrozen { onThaw.append(action) } else { timeline.add(at: pausedUntil, action) }
    }

    /// - Parameters:
    ///   - pause: called when it is paused.
    ///   - death: called when it crashes.
    func observe(pause: @escaping () -> Void, death: @escaping () -> Void) {
        onPause.append(pause)
        onDeath.append(death)
    }

    /// Drops the observers.
    func forget() {
        (onDeath, onPause) = ([], [])
    }
}
