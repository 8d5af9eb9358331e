import NotificationModel

/// A machine that runs the consumer service: its clock and disk outlive the processes on it.
final class Instance {
    let number: Int
    let clock: MachineClock
    private(set) var disk = SimulatedDisk()
    private(set) var process: SimulatedProcess?
    private(set) var runners: [LaneRunner] = []
    private var lives = 0
    /// It is not started again.
    var isDown = false

    init(number: Int, clock: MachineClock) {
        self.number = number
        self.clock = clock
    }

    /// Begins a process; the one before is gone, or is left behind as a zombie.
    func begin(on timeline: Timeline, _ makeRunners: (SimulatedProcess) -> [LaneRunner]) {
        lives += 1
        let process = SimulatedProcess(name: "p\(number).\(lives)", clock: clock, timeline: timeline)
        self.process = process
        runners = makeRunners(process)
        for runner in runners { runner.run() }
    }

    /// The next process runs on another machine in its place.
    func move() {
        disk = SimulatedDisk()
    }

    /// Whether all its lanes have a lane at work.
    var isRunning: Bool { process?.isDead == false && !runners.isEmpty && runners.allSatisfy(\.isRunning) }
}
