import NIOCore

/// The only timer of a connection, on its event loop. Nearly every phase ends before its time: so a later end does
/// not set the timer again, which checks it when it fires.
final class PhaseTimer {
    private let eventLoop: any EventLoop
    private var end = NIODeadline.distantFuture
    private var onEnd: () -> Void = {}
    private var scheduled: Scheduled<Void>?
    private var scheduledEnd = NIODeadline.distantFuture

    init(on eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    /// - Parameters:
    ///   - end: of the phase; `distantFuture`: none.
    ///   - onEnd: called at that time, unless the timer is set again or cancelled.
    func set(to end: NIODeadline, onEnd: @escaping () -> Void) {
        (self.end, self.onEnd) = (end, onEnd)
        schedule()
    }

    func cancel() {
        scheduled?.cancel()
        (scheduled, end, onEnd) = (nil, .distantFuture, {})
    }

    private func schedule() {
        guard end < .distantFuture, scheduled == nil || end < scheduledEnd else { return }
        scheduled?.cancel()
        scheduledEnd = end
        scheduled = eventLoop.assumeIsolated().scheduleTask(deadline: end) { [weak self] in self?.check() }
    }

    private func check() {
        scheduled = nil
        if end <= .now() { onEnd() } else { schedule() }
    }
}
