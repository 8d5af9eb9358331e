import Dispatch
import Synchronization
import NotificationModel

/// Wakes one waiting thread from any other thread. A ring is kept until the next wait.
final class Bell: Sendable {
    /// Whether the semaphore was signaled and no wait has consumed the signal.
    private let isRung = Atomic(false)
    private let semaphore = DispatchSemaphore(value: 0)

    func ring() {
        if !isRung.exchange(true, ordering: .acquiringAndReleasing) { semaphore.signal() }
    }

    /// Waits at most this long by the monotonic clock.
    func wait(atMost time: Duration) {
        let end = DispatchTime.now() + .milliseconds(Int(clamping: time.milliseconds))
        // A ring between these two lines is safe to lose: its thread finds the cause after this call.
        if semaphore.wait(timeout: end) == .success { isRung.store(false, ordering: .sequentiallyConsistent) }
    }
}
