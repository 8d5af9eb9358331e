import ServiceSupport

/// One worker after the other in one process: what `Supervisor` does on a thread, as events of the timeline. What follows the end
/// of a worker is `Succession`'s decision here as there.
final class WorkerRunner {
    /// How workers are made, and what their ends mean.
    struct Kind {
        /// Gets why the one before was fenced, if it was.
        var make: (_ stop: StopSignal, _ fenced: String?) throws -> any LoopWorker
        /// Whether no other may follow.
        var isFinal: (any Error) -> Bool = { _ in false }
        var fencing: (any Error) -> InstanceFencedError?
    }

    let name: String
    private let process: SimulatedProcess
    private let timeline: Timeline
    private var random: SeededGenerator
    private let kind: Kind
    private let note: (String) -> Void
    private let onFailure: (any Error) -> Void
    private let onFinal: (any Error) -> Void
    private let stopSignal = StopSignal()
    private var worker: (any LoopWorker)?
    private var succession = Succession()
    /// When the worker was made, in microseconds.
    private var began: Int64 = 0
    /// It ended in order, or for good.
    private(set) var isOver = false
    /// How often a worker was made.
    private(set) var starts = 0

    init(
        name: String,
        process: SimulatedProcess,
        timeline: Timeline,
        random: SeededGenerator,
        kind: Kind,
        note: @escaping (String) -> Void,
        onFailure: @escaping (any Error) -> Void = { _ in },
        onFinal: @escaping (any Error) -> Void = { _ in }
    ) {
        (self.name, self.process, self.timeline, self.random) = (name, process, timeline, random)
        (self.kind, self.note, self.onFailure, self.onFinal) = (kind, note, onFailure, onFinal)
    }

    var isRunning: Bool { worker != nil && !isOver }

    /// Runs until it is stopped, or its process ends.
    func run() {
        schedule(after: 0)
    }

    /// Asks it to drain and to end.
    func stop() {
        stopSignal.request()
    }

    private func schedule(after microseconds: Int64) {
        timeline.add(after: microseconds) { [self] in step() }
    }

    private func step() {
        guard !process.isDead, !isOver else {
            isOver = true
            worker = nil
            return
        }
        guard !process.isPaused else {
            process.whenResumed { [self] in step() }
            return
        }
        do {
            try work()
            if !isOver { schedule(after: random.number(100...2_000)) }
        } catch {
            fail(error)
        }
    }

    private func work() throws {
        guard !stopSignal.isRequested else {
            worker?.drain()
            worker?.close(after: nil)
            worker = nil
            isOver = true
            note("ended")
            return
        }
        guard let worker else {
            starts += 1
            began = timeline.now
            let worker = try kind.make(stopSignal, succession.fenced?.description)
            self.worker = worker
            try worker.start()
            return
        }
        try worker.turn()
        if worker.commits == 1 { succession.noteWork() }
    }

    private func fail(_ error: any Error) {
        note("fails: \(error)")
        worker?.close(after: error)
        worker = nil
        guard !process.isDead else {
            isOver = true
            return
        }
        let next = succession.next(
            after: error,
            ran: .microseconds(timeline.now - began),
            isFinal: kind.isFinal(error),
            fencing: kind.fencing(error)
        )
        switch next {
        case .nothing:
            isOver = true
            onFinal(error)
        case .restart(let pause, _):
            onFailure(error)
            schedule(after: pause.microseconds)
        }
    }
}
