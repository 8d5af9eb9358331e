import NotificationConsumer
import ServiceSupport

/// A lane as its service runs it.
protocol LaneDriver: AnyObject {
    func start() throws
    /// Works for a moment.
    func turn() throws
    /// Checkpoints what was done, before the end.
    func drain()
    /// Checkpoints so far.
    var commits: Int { get }
    /// - Parameter error: what `turn` threw: what is not committed is given up.
    func close(after error: (any Error)?)
    /// Why no other lane may begin after this error; nil when one may.
    func refusal(_ error: any Error) -> ConsumerRefusal?
}

/// One lane of one process, run as `Supervisor` does: a lane that fails is closed, and another one starts after its pause.
final class LaneRunner {
    let name: String
    private let process: SimulatedProcess
    private let timeline: Timeline
    private var random: SeededGenerator
    private let makeLane: () throws -> any LaneDriver
    private let note: (String) -> Void
    private let onFailure: (any Error) -> Void
    private let onRefusal: (ConsumerRefusal) -> Void
    private var lane: (any LaneDriver)?
    private var pause = RestartPause()
    /// When the lane was made, in microseconds.
    private var began: Int64 = 0
    private var isStopping = false
    /// It ended in order, or for good.
    private(set) var isOver = false
    /// How often a lane was made.
    private(set) var starts = 0

    init(
        name: String,
        process: SimulatedProcess,
        timeline: Timeline,
        random: SeededGenerator,
        makeLane: @escaping () throws -> any LaneDriver,
        note: @escaping (String) -> Void,
        onFailure: @escaping (any Error) -> Void = { _ in },
        onRefusal: @escaping (ConsumerRefusal) -> Void
    ) {
        (self.name, self.process, self.timeline, self.random) = (name, process, timeline, random)
        (self.makeLane, self.note, self.onFailure, self.onRefusal) = (makeLane, note, onFailure, onRefusal)
    }

    var isRunning: Bool { lane != nil && !isOver }

    /// Runs until it is stopped, or its process ends.
    func run() {
        schedule(after: 0)
    }

    /// Asks it to drain and to end.
    func stop() {
        isStopping = true
    }

    private func schedule(after microseconds: Int64) {
        timeline.add(after: microseconds) { [self] in step() }
    }

    private func step() {
        guard !process.isDead, !isOver else {
            isOver = true
            lane = nil
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
        guard !isStopping else {
            lane?.drain()
            lane?.close(after: nil)
            lane = nil
            isOver = true
            note("ended")
            return
        }
        guard let lane else {
            starts += 1
            began = timeline.now
            let lane = try makeLane()
            self.lane = lane
            try lane.start()
            return
        }
        try lane.turn()
        if lane.commits == 1 { pause.noteWork() }
    }

    private func fail(_ error: any Error) {
        note("fails: \(error)")
        let refusal = lane?.refusal(error)
        lane?.close(after: error)
        lane = nil
        guard !process.isDead else {
            isOver = true
            return
        }
        if let refusal {
            isOver = true
            onRefusal(refusal)
            return
        }
        onFailure(error)
        schedule(after: pause.noteFailure(after: .microseconds(timeline.now - began)).microseconds)
    }
}
