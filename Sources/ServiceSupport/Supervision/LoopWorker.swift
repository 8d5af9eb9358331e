/// One life of a loop that reads from Kafka and writes to it, in turns on one thread: a lane, or a session of the ingest. A worker
/// that throws is closed, and another one follows.
package protocol LoopWorker: AnyObject {
    /// Takes over what a predecessor left, and joins the group.
    func start() throws
    /// Works for a moment.
    ///
    /// - Throws: What makes it impossible to go on.
    func turn() throws
    /// Commits that show that it did what it is for.
    var commits: Int { get }
    /// Whether another worker must take over: this one ends in order.
    var isDone: Bool { get }
    /// Makes durable what was done, before the end in order.
    func drain()
    /// Leaves the group and frees everything.
    ///
    /// - Parameter error: What was thrown; what is not committed is given up then.
    func close(after error: (any Error)?)
}

extension LoopWorker {
    package var isDone: Bool { false }

    /// Works until the stop is requested or the worker is done, then drains.
    ///
    /// - Parameters:
    ///   - hasWorked: Called once it did what it is for.
    ///   - afterTurn: Called after each turn.
    package func run(until stop: StopSignal, hasWorked: () -> Void, afterTurn: () -> Void = {}) throws {
        do {
            try start()
            var isNoted = false
            while !stop.isRequested, !isDone {
                try turn()
                afterTurn()
                guard !isNoted, commits > 0 else { continue }
                isNoted = true
                hasWorked()
            }
            drain()
            close(after: nil)
        } catch {
            close(after: error)
            throw error
        }
    }
}
