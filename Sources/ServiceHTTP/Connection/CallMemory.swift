import Synchronization

/// The bytes of all calls that are in memory at one time: heads that are arriving, and bodies and removals until they
/// are answered.
///
/// Each connection and each body has a bound of its own; many of them together are held by this one.
package final class CallMemory: Sendable {
    private let limit: Int
    private let taken = Atomic(0)

    package init(limit: Int) {
        self.limit = limit
    }

    /// - Returns: Whether there is room; if so, the caller gives it back.
    func take(_ bytes: Int) -> Bool {
        let (_, now) = taken.add(bytes, ordering: .relaxed)
        guard now > limit else { return true }
        give(bytes)
        return false
    }

    /// Whether there is room at this moment; nothing is taken.
    func hasRoom(for bytes: Int) -> Bool {
        taken.load(ordering: .relaxed) + bytes <= limit
    }

    func give(_ bytes: Int) {
        taken.subtract(bytes, ordering: .relaxed)
    }

    var takenForTest: Int { taken.load(ordering: .relaxed) }
}
