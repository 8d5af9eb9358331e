import Dispatch
import Synchronization

/// Stores of revoked partitions: an eager rebalance revokes every partition and reassigns most of them.
///
/// Stores on disk stay open, because the process may get their partitions again. Stores in memory are kept for
/// ``patience``; after ``grace`` they hold at most 256 MiB together, and the first one revoked is released first.
final class ParkedStores: Sendable {
    static let patience = Duration.seconds(300)
    /// A rebalance takes no longer; the memory was already in use before it.
    static let grace = Duration.seconds(30)
    /// How long closing waits for the disk, for all stores together: it may have to write gigabytes after a restore.
    static let closing = Duration.seconds(10)

    /// Only one thread at a time uses the store.
    private struct Parked: @unchecked Sendable {
        let store: any EntryStore
        let bytes: Int
        let since: ContinuousClock.Instant
    }

    private let maximumBytes: Int
    private let parked = Mutex<[Int32: Parked]>([:])

    /// - Parameter maximumBytes: the limit for all stores in memory.
    init(maximumBytes: Int = 256 << 20) { self.maximumBytes = maximumBytes }

    /// The size of all stores in memory.
    var bytes: Int { parked.withLock { $0.values.reduce(0) { $0 + $1.bytes } } }

    func take(_ partition: Int32) -> (any EntryStore)? {
        parked.withLock { $0.removeValue(forKey: partition) }?.store
    }

    func park(_ store: any EntryStore, of partition: Int32, at now: ContinuousClock.Instant) {
        let back = Parked(store: store, bytes: store.memoryBytes, since: now)
        parked.withLock { $0[partition] = back }
    }

    /// Releases stores that waited too long or use too much memory.
    func tend(at now: ContinuousClock.Instant) {
        let gone = parked.withLock { parked in
            var bytes = parked.values.reduce(0) { $0 + $1.bytes }
            var gone: [Parked] = []
            for (partition, store) in parked.sorted(by: { ($0.value.since, $0.key) < ($1.value.since, $1.key) })
            where store.bytes > 0 {
                let age = now - store.since
                guard age >= Self.patience || age >= Self.grace && bytes > maximumBytes else { break }
                bytes -= store.bytes
                gone.append(store)
                parked[partition] = nil
            }
            return gone
        }
        guard !gone.isEmpty else { return }
        // Freeing many entries takes a moment.
        DispatchQueue.global(qos: .utility).async {
            for parked in gone { parked.store.close(flushing: false) }
            FreedMemory.release()
        }
    }

    /// Closes all stores; waits for ``closing`` at most. A file that is not complete by then is used again unless the machine
    /// restarts.
    func closeAll() {
        let deadline = ContinuousClock.now + Self.closing
        let all = parked.withLock { parked in
            defer { parked = [:] }
            return parked
        }
        for (_, parked) in all.sorted(by: { $0.key < $1.key }) { parked.store.close(flushing: true, by: deadline) }
    }
}
