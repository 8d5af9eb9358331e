import Synchronization

/// The memory of all calls in progress: arriving heads, and bodies and removals until they are answered.
///
/// Each connection and each body has its own limit; this one limits their sum.
package final class CallMemory: Sendable {
    private let limit: Int
    private let taken = Atomic(0)

    package init(limit: Int) {
        self.limit = limit
    }

    /// - Returns: Whether the bytes were reserved; if so, the caller must release them.
    func take(_ bytes: Int) -> Bool {
        let (_, now) = taken.add(bytes, ordering: .relaxed)
        guard now > limit else { return true }
        give(bytes)
        return false
    }

    /// Whether there is room now; reserves nothing.
    func hasRoom(for bytes: Int) -> Bool {
        taken.load(ordering: .relaxed) + bytes <= limit
    }

    /// Bytes that are reserved until the last reference is gone: for what goes on after a call's answer has begun.
    package final class Lease: Sendable {
        private let memory: CallMemory
        private let bytes: Int

        init(_ memory: CallMemory, _ bytes: Int) { (self.memory, self.bytes) = (memory, bytes) }

        deinit { memory.give(bytes) }
    }

    func give(_ bytes: Int) {
        taken.subtract(bytes, ordering: .relaxed)
    }
}
