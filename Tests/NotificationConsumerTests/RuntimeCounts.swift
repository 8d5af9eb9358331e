import Foundation
import Synchronization

/// What the Swift runtime did on one thread: how many objects it allocated, and how many references it counted.
///
/// The runtime calls its functions through pointers when it is asked to, as Instruments does.
struct RuntimeCounts {
    private typealias Allocate = @convention(c) (UnsafeRawPointer?, Int, Int) -> UnsafeMutableRawPointer?
    private typealias Retain = @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?

    var allocations = 0
    var retains = 0

    /// Counts while `body` runs on this thread; nil where the runtime has no such pointers.
    static func of(_ body: () throws -> Void) rethrows -> RuntimeCounts? {
        guard let hooks = Hooks.shared else { return nil }
        return try hooks.lock.withLock { _ in
            hooks.begin()
            defer { hooks.end() }
            try body()
            return hooks.counts.pointee
        }
    }

    /// The pointers of the runtime, and what is called in their place: nothing there may allocate or count references.
    private final class Hooks: @unchecked Sendable {
        static let shared = Hooks()
        nonisolated(unsafe) private static var thread = pthread_self()
        nonisolated(unsafe) private static var counts = UnsafeMutablePointer<RuntimeCounts>.allocate(capacity: 1)
        nonisolated(unsafe) private static var allocate: Allocate?
        nonisolated(unsafe) private static var retain: Retain?

        let lock = Mutex(())
        private let isAsked: UnsafeMutablePointer<Bool>
        private let allocateHook: UnsafeMutablePointer<Allocate?>
        private let retainHook: UnsafeMutablePointer<Retain?>

        var counts: UnsafeMutablePointer<RuntimeCounts> { Self.counts }

        private init?() {
            let program = dlopen(nil, RTLD_NOW)
            guard
                let isAsked = dlsym(
                    program,
                    "_swift_enableSwizzlingOfAllocationAndRefCountingFunctions_forInstrumentsOnly"
                ),
                let allocateHook = dlsym(program, "_swift_allocObject"),
                let retainHook = dlsym(program, "_swift_retain")
            else { return nil }
            self.isAsked = isAsked.assumingMemoryBound(to: Bool.self)
            self.allocateHook = allocateHook.assumingMemoryBound(to: Allocate?.self)
            self.retainHook = retainHook.assumingMemoryBound(to: Retain?.self)
            (Self.allocate, Self.retain) = (self.allocateHook.pointee, self.retainHook.pointee)
        }

        func begin() {
            Self.thread = pthread_self()
            Self.counts.initialize(to: RuntimeCounts())
            allocateHook.pointee = { metadata, size, mask in
                if pthread_equal(pthread_self(), Hooks.thread) != 0 { Hooks.counts.pointee.allocations += 1 }
                return Hooks.allocate?(metadata, size, mask)
            }
            retainHook.pointee = { object in
                if pthread_equal(pthread_self(), Hooks.thread) != 0 { Hooks.counts.pointee.retains += 1 }
                return Hooks.retain?(object)
            }
            isAsked.pointee = true
        }

        func end() {
            isAsked.pointee = false
            allocateHook.pointee = Self.allocate
            retainHook.pointee = Self.retain
        }
    }
}
