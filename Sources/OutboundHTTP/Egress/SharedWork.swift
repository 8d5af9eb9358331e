package import NIOCore
import Synchronization

/// One piece of work for a key at a time: whoever asks for the key meanwhile waits for the same result. Each one who
/// waits has a deadline and can be cancelled; when the last one has left, the work is cancelled.
///
/// `Context` is what belongs to a piece of work, and is known to all who wait for it.
package final class SharedWork<Key: Hashable & Sendable, Context: Sendable, Value: Sendable>: Sendable {
    package enum Outcome: Sendable {
        /// The result; `isFirst` if the work was begun for this one.
        case value(Value, isFirst: Bool)
        case timedOut
        case cancelled
    }

    private struct Waiter {
        var continuation: CheckedContinuation<Outcome, Never>
        var isFirst: Bool
        var timer: Scheduled<Void>?
    }

    private struct Entry {
        /// Distinguishes it from an abandoned piece of work for the same key.
        var number: UInt64
        var context: Context
        var task: Task<Void, Never>
        var waiters: [UInt64: Waiter] = [:]
    }

    private struct Contents {
        var entries: [Key: Entry] = [:]
        var lastNumber: UInt64 = 0

        mutating func nextNumber() -> UInt64 {
            lastNumber &+= 1
            return lastNumber
        }
    }

    private let contents = Mutex(Contents())
    private let group: any EventLoopGroup

    /// - Parameter group: For the timers of the deadlines.
    package init(group: any EventLoopGroup) { self.group = group }

    /// Pieces of work under way.
    package var count: Int { contents.withLock { $0.entries.count } }

    /// Joins the work for the key, or begins it, and waits for its result.
    ///
    /// - Parameters:
    ///   - key: What the work is for.
    ///   - context: For a new piece of work.
    ///   - deadline: When this one stops to wait, by the context.
    ///   - onJoin: Called before the wait, with whether the work began now.
    ///   - work: Gives the result; cancelled when nobody waits for it any more.
    package func value(
        of key: Key,
        context: Context,
        deadline: (Context) -> NIODeadline,
        onJoin: (Context, Bool) -> Void = { _, _ in },
        work: @escaping @Sendable (Context) async -> Value
    ) async -> Outcome {
        let number = contents.withLock { $0.nextNumber() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let context = join(key, number, continuation, context, onJoin, work)
                // A cancellation before this point found no one to cancel.
                guard !Task.isCancelled else { return leave(key, number, .cancelled) }
                watch(key, number, until: deadline(context))
            }
        } onCancel: {
            leave(key, number, .cancelled)
        }
    }

    /// Ends all work and all waits.
    package func cancelAll() {
        let entries = contents.withLock { contents in
            defer { contents.entries = [:] }
            return contents.entries.values.map { $0 }
        }
        for entry in entries {
            entry.task.cancel()
            for waiter in entry.waiters.values { end(waiter, .cancelled) }
        }
    }

    private func join(
        _ key: Key,
        _ number: UInt64,
        _ continuation: CheckedContinuation<Outcome, Never>,
        _ context: Context,
        _ onJoin: (Context, Bool) -> Void,
        _ work: @escaping @Sendable (Context) async -> Value
    ) -> Context {
        contents.withLock { contents in
            if let entry = contents.entries[key] {
                onJoin(entry.context, false)
                contents.entries[key]?.waiters[number] = Waiter(continuation: continuation, isFirst: false)
                return entry.context
            }
            onJoin(context, true)
            // It cannot end before this lock is released.
            let task = Task { [self] in complete(key, number, await work(context)) }
            contents.entries[key] = Entry(
                number: number,
                context: context,
                task: task,
                waiters: [number: Waiter(continuation: continuation, isFirst: true)]
            )
            return context
        }
    }

    private func watch(_ key: Key, _ number: UInt64, until deadline: NIODeadline) {
        let timer = group.any().scheduleTask(deadline: deadline) { [weak self] () -> Void in
            self?.leave(key, number, .timedOut)
        }
        let isWaiting = contents.withLock { contents in
            contents.entries[key]?.waiters[number]?.timer = timer
            return contents.entries[key]?.waiters[number] != nil
        }
        if !isWaiting { timer.cancel() }
    }

    private func leave(_ key: Key, _ number: UInt64, _ outcome: Outcome) {
        let (waiter, task) = contents.withLock { contents -> (Waiter?, Task<Void, Never>?) in
            guard let waiter = contents.entries[key]?.waiters.removeValue(forKey: number) else { return (nil, nil) }
            guard contents.entries[key]?.waiters.isEmpty == true else { return (waiter, nil) }
            return (waiter, contents.entries.removeValue(forKey: key)?.task)
        }
        task?.cancel()
        if let waiter { end(waiter, outcome) }
    }

    private func complete(_ key: Key, _ number: UInt64, _ value: Value) {
        let waiters = contents.withLock { contents -> [Waiter] in
            guard let entry = contents.entries[key], entry.number == number else { return [] }
            contents.entries[key] = nil
            return Array(entry.waiters.values)
        }
        for waiter in waiters { end(waiter, .value(value, isFirst: waiter.isFirst)) }
    }

    private func end(_ waiter: Waiter, _ outcome: Outcome) {
        waiter.timer?.cancel()
        waiter.continuation.resume(returning: outcome)
    }
}
