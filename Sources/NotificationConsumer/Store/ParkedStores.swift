import Dispatch
import Synchronization

/// Stores whose partitions left: an eager rebalance takes every partition only to give most of them back.
///
/// Those on disk stay open as long as the process may get their partitions again. Those in memory wait for
/// ``patience``, and after ``grace`` hold at most 256 MiB together: the one that left first goes first.
final class ParkedStores: Sendable {
    static let patience = Duration.seconds(300)
    /// A rebalance takes no longer; what was in use before it has its room.
    static let grace = Duration.seconds(30)

    /// Whoever takes it out has it alone.
    private struct Parked: @unchecked Sendable {
        let store: any EntryStore
        let bytes: Int
        let since: ContinuousClock.Instant
    }

    private let maximumBytes: Int
    private let parked = Mutex<[Int32: Parked]>([:])

    /// - Parameter maximumBytes: of those in memory, together.
    init(maximumBytes: Int = 256 << 20) { self.maximumBytes = maximumBytes }

    /// What those in memory hold together.
    var bytes: Int { parked.withLock { $0.values.reduce(0) { $0 + $1.bytes } } }

    func take(_ partition: Int32) -> (any EntryStore)? {
        parked.withLock { $0.removeValue(forKey: partition) }?.store
    }

    func park(_ store: any EntryStore, of partition: Int32, at now: ContinuousClock.Instant) {
        let back = Parked(store: store, bytes: store.memoryBytes, since: now)
        parked.withLock { $0[partition] = back }
    }

    /// Lets go of what waited for too long, or is too much.
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
        // Many entries take a moment to free.
        DispatchQueue.global(qos: .utility).async {
            for parked in gone { parked.store.close(flushing: false) }
            FreedMemory.release()
        }
    }

    /// Ends the use of all; blocking.
    func closeAll() {
        let all = parked.withLock { parked in
            defer { parked = [:] }
            return parked
        }
        for (_, parked) in all.sorted(by: { $0.key < $1.key }) { parked.store.close(flushing: true) }
    }
}
