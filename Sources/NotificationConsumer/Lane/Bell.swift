import Dispatch
import Synchronization

/// Ends the wait of one thread from any other. A ring is kept until the next wait.
final class Bell: Sendable {
    /// The semaphore was signalled, and no wait has returned for it.
    private let isRung = Atomic(false)
    private let semaphore = DispatchSemaphore(value: 0)

    func ring() {
        if !isRung.exchange(true, ordering: .acquiringAndReleasing) { semaphore.signal() }
    }

    /// By the monotonic clock.
    func wait(atMost time: Duration) {
        let end = DispatchTime.now() + .milliseconds(Int(clamping: time.milliseconds))
        // A ring between the two lines is of what its thread finds after this call.
        if semaphore.wait(timeout: end) == .success { isRung.store(false, ordering: .sequentiallyConsistent) }
    }
}
