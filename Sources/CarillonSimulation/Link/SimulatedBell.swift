import Synchronization

/// Ends a wait of a simulated link. A ring is kept until the next wait.
final class SimulatedBell: Sendable {
    private let flag = Atomic(false)

    var isRung: Bool { flag.load(ordering: .relaxed) }
    func ring() { flag.store(true, ordering: .relaxed) }
    func still() { flag.store(false, ordering: .relaxed) }
}
