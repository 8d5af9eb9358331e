import ServiceSupport
import NotificationModel

/// Runs one worker after the other in one process: the work of `Supervisor` on a thread, as events of the timeline. In both,
/// `Succession` decides how to continue after the end of a worker.
final class WorkerRunner {
    /// How to create workers, and how to interpret their errors.
    struct Kind {
        /// Gets the reason why the previous worker was fenced, if it was.
        var make: (_ stop: StopSignal, _ fenced: String?) throws -> any LoopWorker
        /// Whether no other worker may follow.
        var isFinal: (any Error) -> Bool = { _ in false }
        var fencing: (any Error) -> InstanceFencedError?
    }

    let name: String
    private let process: SimulatedProcess
    private let timeline: Timeline
    private var random: SeededGenerator
    private let kind: Kind
    private let note: (String) -> Void
    private let onTurn: (any LoopWorker) -> Void
    private let onFailure: (any Error) -> Void
    private let onFinal: (any Error) -> Void
    private let stopSignal = StopSignal()
    private var worker: (any LoopWorker)?
    private var succession = Succession()
    /// When the worker was created, in microseconds.
    private var began: Int64 = 0
    /// It was shut down, or failed permanently.
    private(set) var isOver = false
    /// The number of workers so far.
    private(set) var starts = 0

    init(
        name: String,
        process: SimulatedProcess,
        timeline: Timeline,
        random: SeededGenerator,
        kind: Kind,
        note: @escaping (String) -> Void,
        onTurn: @escaping (any LoopWorker) -> Void = { _ in },
        onFailure: @escaping (any Error) -> Void = { _ in },
        onFinal: @escaping (any Error) -> Void = { _ in }
    ) {
        (self.name, self.process, self.timeline, self.random) = (name, process, timeline, random)
        (self.kind, self.note, self.onTurn) = (kind, note, onTurn)
        (self.onFailure, self.onFinal) = (onFailure, onFinal)
    }

    var isRunning: Bool { worker != nil && !isOver }

    /// Runs until `stop`, or until its process ends.
    func run() {
        schedule(after: 0)
    }

    /// Requests a graceful shutdown.
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
        onTurn(worker)
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
