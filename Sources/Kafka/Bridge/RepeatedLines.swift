import Foundation
import Synchronization

/// Lines of a log that the clients of this process repeat, of which one a minute is enough.
final class RepeatedLines: Sendable {
    private static let pause = Duration.seconds(60)
    private static let maximumCount = 100
    private let told = Mutex<[String: ContinuousClock.Instant]>([:])

    /// Whether the line was not told for a minute; it counts as told then. What follows ` (after ` differs each time: a duration,
    /// and a number of attempts.
    func isDue(_ line: String, at now: ContinuousClock.Instant) -> Bool {
        let key = line.range(of: " (after ").map { String(line[..<$0.lowerBound]) } ?? line
        return told.withLock { told in
            if let last = told[key], now - last < Self.pause { return false }
            if told.count >= Self.maximumCount { told = told.filter { now - $0.value < Self.pause } }
            if told.count >= Self.maximumCount { told = [:] }
            told[key] = now
            return true
        }
    }
}
