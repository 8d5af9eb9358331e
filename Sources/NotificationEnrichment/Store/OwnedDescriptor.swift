// The module of `stat` where another file of the target imports Dispatch.
#if canImport(CDispatch)
import CDispatch
#endif
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// An open file, closed with the value. Its calls block.
struct OwnedDescriptor: ~Copyable, Sendable {
    /// What of a file's status the store uses.
    struct Status: Equatable {
        var isRegular: Bool
        var bytes: Int64
        /// The modification time, in milliseconds since 1970: until when the medium is needed.
        var modified: Int64
        /// For whom the medium was fetched.
        var owner: MediaOwner
        /// When the file or its status was last changed, in milliseconds since 1970; nobody can set it.
        var changed: Int64
        /// With the inode, what makes it the same file.
        private let device: UInt64
        private let inode: UInt64

        fileprivate init(_ status: stat) {
            isRegular = status.st_mode & S_IFMT == S_IFREG
            bytes = Int64(status.st_size)
            #if canImport(Darwin)
            modified = Self.milliseconds(status.st_mtimespec)
            owner = MediaOwner(number: UInt32(truncatingIfNeeded: status.st_mtimespec.tv_nsec % 1_000_000))
            changed = Self.milliseconds(status.st_ctimespec)
            #else
            modified = Self.milliseconds(status.st_mtim)
            owner = MediaOwner(number: UInt32(truncatingIfNeeded: status.st_mtim.tv_nsec % 1_000_000))
            changed = Self.milliseconds(status.st_ctim)
            #endif
            device = UInt64(truncatingIfNeeded: status.st_dev)
            inode = UInt64(truncatingIfNeeded: status.st_ino)
        }

        private static func milliseconds(_ time: timespec) -> Int64 {
            Int64(time.tv_sec).clamped(to: latest / 1000) * 1000 + Int64(time.tv_nsec / 1_000_000)
        }

        func isSameFile(as other: Self) -> Bool { device == other.device && inode == other.inode }
    }

    /// The last instant that a file can carry here, in milliseconds since 1970: in the year 9999.
    static let latest: Int64 = 253_402_300_799_000

    let number: Int32

    /// - Parameter number: An open descriptor that nothing else closes.
    init(owning number: Int32) { self.number = number }

    deinit { _ = Self.close(number) }

    /// Opens a file that exists.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - access: `O_RDONLY`, or `O_RDWR` for a lock, which needs it on NFS.
    /// - Returns: Nil when there is no such file.
    /// - Throws: ``MediaStoreError``.
    static func existing(_ path: String, _ access: Int32) throws(MediaStoreError) -> OwnedDescriptor? {
        // A link could lead out of the store.
        let number = retrying { open(path, access | O_CLOEXEC | O_NOFOLLOW) }
        if number >= 0 { return OwnedDescriptor(owning: number) }
        let code = errno
        guard code == ENOENT || code == ELOOP else { throw MediaStoreError(errno: code, "\(path) cannot be opened") }
        return nil
    }

    /// The status of the file at a path; nil when there is none.
    static func status(of path: String) -> Status? {
        var status = stat()
        return lstat(path, &status) == 0 ? Status(status) : nil
    }

    /// - Throws: ``MediaStoreError``.
    func status() throws(MediaStoreError) -> Status {
        var status = stat()
        guard fstat(number, &status) == 0 else {
            throw MediaStoreError(errno: errno, "a medium's status cannot be read")
        }
        return Status(status)
    }

    /// Locks the file against other holders, also in other processes, until it is closed.
    ///
    /// - Parameter waits: Whether to wait for another holder.
    /// - Returns: False when another one has it.
    /// - Throws: ``MediaStoreError``.
    func lock(waits: Bool) throws(MediaStoreError) -> Bool {
        if Self.retrying({ flock(number, waits ? LOCK_EX : LOCK_EX | LOCK_NB) }) == 0 { return true }
        let code = errno
        guard code == EWOULDBLOCK else { throw MediaStoreError(errno: code, "a medium cannot be locked") }
        return false
    }

    /// - Parameters:
    ///   - instant: In milliseconds since 1970, from 0 to ``latest``.
    ///   - owner: For whom the medium was fetched.
    /// - Throws: ``MediaStoreError``.
    func setModified(_ instant: Int64, of owner: MediaOwner) throws(MediaStoreError) {
        var time = timespec()
        time.tv_sec = numericCast(instant / 1000)
        time.tv_nsec = numericCast(instant % 1000 * 1_000_000 + Int64(owner.number))
        guard
            withUnsafeTemporaryAllocation(
                of: timespec.self,
                capacity: 2,
                { times in
                    times.initialize(repeating: time)
                    return futimens(number, times.baseAddress)
                }
            ) == 0
        else { throw MediaStoreError(errno: errno, "a medium's modification time cannot be set") }
    }

    /// Removes the file's name, while the file and so its lock are held.
    ///
    /// - Throws: ``MediaStoreError``.
    func unlink(_ path: String) throws(MediaStoreError) {
        // Somebody may have removed it by hand.
        guard remove(path) == 0 || errno == ENOENT else {
            throw MediaStoreError(errno: errno, "\(path) cannot be removed")
        }
    }

    /// Reads from a position.
    ///
    /// - Returns: How many bytes were read; 0 at the end of the file.
    /// - Throws: ``MediaStoreError``.
    func read(at position: Int64, into buffer: UnsafeMutableRawBufferPointer) throws(MediaStoreError) -> Int {
        let count = Self.retrying { pread(number, buffer.baseAddress, buffer.count, off_t(position)) }
        guard count >= 0 else { throw MediaStoreError(errno: errno, "a medium cannot be read") }
        return count
    }

    /// Closes the file; network file systems report only now that bytes were not written.
    ///
    /// - Throws: ``MediaStoreError``.
    consuming func close() throws(MediaStoreError) {
        let number = number
        discard self
        guard Self.close(number) == 0 else { throw MediaStoreError(errno: errno, "a medium cannot be written") }
    }

    private static func close(_ number: Int32) -> Int32 {
        #if canImport(Glibc)
        Glibc.close(number)
        #elseif canImport(Musl)
        Musl.close(number)
        #elseif canImport(Darwin)
        Darwin.close(number)
        #endif
    }

    /// Repeats a call that a signal interrupted.
    static func retrying<Result: SignedInteger>(_ call: () -> Result) -> Result {
        while true {
            let result = call()
            if result >= 0 || errno != EINTR { return result }
        }
    }
}

extension Int64 {
    /// The number, or the nearest one from 0 to a bound.
    func clamped(to bound: Int64) -> Int64 { Swift.min(Swift.max(self, 0), bound) }
}
