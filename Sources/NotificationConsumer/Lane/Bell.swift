import Foundation

/// Ends the wait of one thread from any other. A ring is kept until the next wait.
final class Bell: Sendable {
    private let condition = NSCondition()
    // Only under the condition's lock.
    private nonisolated(unsafe) var isRung = false

    func ring() {
        condition.lock()
        isRung = true
        condition.signal()
        condition.unlock()
    }

    func wait(atMost time: Duration) {
        condition.lock()
        defer { condition.unlock() }
        let end = Date(timeIntervalSinceNow: Double(time.nanoseconds) / 1e9)
        while !isRung, condition.wait(until: end) {}
        isRung = false
    }
}
