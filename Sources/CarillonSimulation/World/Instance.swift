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
    /// The lanes of the current process.
    private(set) var seats: [LaneSeat] = []
    /// The lanes of earlier processes that had not ended when they were replaced.
    private var formerSeats: [LaneSeat] = []
    private(set) var runners: [WorkerRunner] = []
    private var lives = 0
    /// Which time zone data the current process has. Each start brings other data, on every second machine at another time: as
    /// in a rolling upgrade.
    var zoneData: Int { (number + lives) % SimulatedZone.versions.count }
    /// It is not started again.
    var isDown = false

    /// - Parameter files: the folder for stores in files; nil if disks are simulated.
    init(number: Int, name: String, clock: MachineClock, files: String?) {
        (self.number, self.name, self.clock, self.files) = (number, name, clock, files)
        disk = SimulatedDisk(directory: files.map { "\($0)/\(name).0" })
    }

    /// Starts a process; the previous one has ended, or continues as a zombie.
    func begin(on timeline: Timeline, _ make: (SimulatedProcess) -> ([LaneSeat], [WorkerRunner])) {
        lives += 1
        let process = SimulatedProcess(name: "\(name).\(lives)", clock: clock, timeline: timeline)
        formerSeats = (formerSeats + seats).filter { !$0.process.isDead }
        self.process = process
        (seats, runners) = make(process)
        for runner in runners { runner.run() }
    }

    /// Ends its process, and those before it that have not ended.
    func crash() {
        for seat in formerSeats { seat.process.crash() }
        process?.crash()
    }

    /// The next process runs on another machine, with an empty disk.
    func move() {
        disk = SimulatedDisk(directory: files.map { "\($0)/\(name).\(lives)" })
    }

    /// Breaks the reference cycle: lanes refer to their instance.
    func forget() {
        (seats, formerSeats, runners) = ([], [], [])
    }

    /// Whether all its lanes run.
    var isRunning: Bool { process?.isDead == false && !runners.isEmpty && runners.allSatisfy(\.isRunning) }

    /// The lanes whose metrics can be read.
    var readableSeats: [LaneSeat] { (formerSeats + seats).filter { !$0.process.isDead && !$0.process.isPaused } }
}
