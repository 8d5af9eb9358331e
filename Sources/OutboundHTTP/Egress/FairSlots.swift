import DequeModule
import Synchronization

/// Slots for look-ups, which applications share: one takes a further slot only while it has fewer than are free. So one
/// alone can have half of them, and what it holds never keeps the others from theirs.
final class FairSlots: Sendable {
    private struct Contents {
        var used = 0
        var byApplication: [String: Int] = [:]
        var waiting: [String: Deque<CheckedContinuation<Void, Never>>] = [:]

        mutating func take(_ application: String, of bound: Int) -> Bool {
            let own = byApplication[application] ?? 0
            guard used < bound, own == 0 || own < bound - used else { return false }
            used += 1
            byApplication[application] = own + 1
            return true
        }

        mutating func give(_ application: String) {
            used -= 1
            let left = (byApplication[application] ?? 0) - 1
            byApplication[application] = left > 0 ? left : nil
        }

        /// Of those that wait, the application with the fewest slots goes first.
        mutating func next(of bound: Int) -> CheckedContinuation<Void, Never>? {
            let order = waiting.keys.sorted { (byApplication[$0] ?? 0, $0) < (byApplication[$1] ?? 0, $1) }
            for application in order where take(application, of: bound) {
                let next = waiting[application]?.popFirst()
                if waiting[application]?.isEmpty == true { waiting[application] = nil }
                return next
            }
            return nil
        }
    }

    private let bound: Int
    /// For each application.
    private let mostWaiting: Int
    private let contents = Mutex(Contents())

    init(_ bound: Int, waiting: Int) { (self.bound, mostWaiting) = (max(1, bound), waiting) }

    /// Runs the work in a slot, when there is one.
    ///
    /// - Returns: nil when too many of the application wait.
    func run<Value: Sendable>(for application: String, _ work: () async -> Value) async -> Value? {
        let isFull = contents.withLock { ($0.waiting[application]?.count ?? 0) >= mostWaiting }
        guard !isFull else { return nil }
        await withCheckedContinuation { continuation in
            let mayBegin = contents.withLock { contents in
                if contents.take(application, of: bound) { return true }
                contents.waiting[application, default: []].append(continuation)
                return false
            }
            if mayBegin { continuation.resume() }
        }
        let value = await work()
        let next = contents.withLock { contents in
            contents.give(application)
            return contents.next(of: bound)
        }
        next?.resume()
        return value
    }
}
