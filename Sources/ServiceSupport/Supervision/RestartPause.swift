/// The pause before a worker that failed starts again: the first one at the beginning, twice as long after each failure, at most
/// half a minute. A worker that has worked begins with the first one again.
package struct RestartPause: Sendable {
    package static let longest = Duration.seconds(30)
    /// A worker that ran for so long has worked, whether it says so or not.
    package static let sound = Duration.seconds(60)

    private let first: Duration
    private var next: Duration

    /// - Parameter first: The pause after the first failure, more than zero.
    package init(first: Duration = .seconds(1)) { (self.first, next) = (first, first) }

    /// The worker did what it is for.
    package mutating func noteWork() { next = first }

    /// The worker failed.
    ///
    /// - Parameter time: For how long it ran.
    /// - Returns: How long to wait before the next one starts.
    package mutating func noteFailure(after time: Duration) -> Duration {
        if time > Self.sound { next = first }
        defer { next = min(next * 2, Self.longest) }
        return next
    }
}
