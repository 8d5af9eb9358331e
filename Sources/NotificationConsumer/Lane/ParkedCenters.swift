import Synchronization

/// The centres of partitions that were revoked in order, kept for the lane of this process that gets them next: the
/// store is in memory, and an eager rebalance revokes every partition only to assign most of them again.
///
/// A centre comes back only when the partition's marker is still the one it was parked with: nobody read on meanwhile.
final class ParkedCenters: Sendable {
    private let parked = Mutex<[Int32: (center: PartitionCenter, offset: Int64)]>([:])

    func park(_ center: PartitionCenter, of partition: Int32, at offset: Int64) {
        parked.withLock { $0[partition] = (center, offset) }
    }

    /// Takes the centre out; nil when there is none, or it stands elsewhere than `offset`.
    func take(_ partition: Int32, at offset: Int64) -> PartitionCenter? {
        parked.withLock { parked in
            guard let found = parked.removeValue(forKey: partition), found.offset == offset else { return nil }
            return found.center
        }
    }
}
