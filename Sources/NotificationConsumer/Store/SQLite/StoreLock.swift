import Foundation
import Synchronization

/// A lock that lets one store at a time, in any process, use a partition's file; the kernel releases it when the
/// process ends.
final class StoreLock: Sendable {
    private let descriptor: Mutex<Int32?>

    /// - Throws: ``EntryStoreError``.
    init(path: String) throws {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw EntryStoreError.failed("\(path) cannot be written", errno: errno)
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            _ = Foundation.close(descriptor)
            guard code == EWOULDBLOCK else {
                throw EntryStoreError.failed("\(path) cannot be locked", errno: code)
            }
            throw EntryStoreError.inUse(
                "store.directory: \(path) is locked: another process uses this directory; give each instance one of its own"
            )
        }
        self.descriptor = Mutex(descriptor)
    }

    /// Releases the lock at once, even if other references remain.
    func release() {
        descriptor.withLock { descriptor in
            if let descriptor { _ = Foundation.close(descriptor) }
            descriptor = nil
        }
    }

    deinit { release() }
}
