import NotificationConsumer
import NotificationModel
import ServiceSupport

/// A machine that runs the consumer service: its clock and disk outlive the processes on it.
final class Instance {
    let number: Int
    let name: String
    let clock: MachineClock
    private(set) var disk: SimulatedDisk
    private let files: String?
    private(set) var process: SimulatedProcess?
    /// Of the process, one a lane.
    private(set) var seats: [LaneSeat] = []
    private(set) var runners: [WorkerRunner] = []
    private var lives = 0
    /// It is not started again.
    var isDown = false

    /// - Parameter files: where disks are in files; nil where they are simulated.
    init(number: Int, name: String, clock: MachineClock, files: String?) {
        (self.number, self.name, self.clock, self.files) = (number, name, clock, files)
        disk = SimulatedDisk(directory: files.map { "\($0)/\(name).0" })
    }

    /// Begins a process; the one before is gone, or is left behind as a zombie.
    func begin(on timeline: Timeline, _ make: (SimulatedProcess) -> ([LaneSeat], [WorkerRunner])) {
        lives += 1
        let process = SimulatedProcess(name: "\(name).\(lives)", clock: clock, timeline: timeline)
        self.process = process
        (seats, runners) = make(process)
        for runner in runners { runner.run() }
    }

    /// The next process runs on another machine in its place.
    func move() {
        disk = SimulatedDisk(directory: files.map { "\($0)/\(name).\(lives)" })
    }

    /// Lanes know their instance.
    func forget() {
        (seats, runners) = ([], [])
    }

    /// Whether all its lanes have a lane at work.
    var isRunning: Bool { process?.isDead == false && !runners.isEmpty && runners.allSatisfy(\.isRunning) }
}
