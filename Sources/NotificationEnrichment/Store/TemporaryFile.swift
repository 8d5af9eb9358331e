#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A download's file until it has its place. Its temporary name goes with the value.
struct TemporaryFile: ~Copyable, Sendable {
    let path: String
    /// Nil when the file is complete.
    private var descriptor: OwnedDescriptor?
    private let write: MediaDirectory.Write

    init(_ descriptor: consuming OwnedDescriptor, path: String, write: @escaping MediaDirectory.Write) {
        self.path = path
        self.descriptor = consume descriptor
        self.write = write
    }

    deinit { _ = unlink(path) }

    /// - Throws: ``MediaStoreError``; some of the bytes may be written.
    func append(_ bytes: UnsafeRawBufferPointer) throws(MediaStoreError) {
        let number: Int32
        switch descriptor {
        case .some(let descriptor): number = descriptor.number
        case .none: throw MediaStoreError(.failed, "\(path) is complete")
        }
        var rest = bytes
        while !rest.isEmpty {
            let count = OwnedDescriptor.retrying { write(number, rest) }
            guard count >= 0 else { throw MediaStoreError(errno: errno, "\(path) cannot be written") }
            guard count > 0 else { throw MediaStoreError(.failed, "\(path) cannot be written: nothing was taken") }
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
        }
    }

    /// Ends the writing.
    ///
    /// - Parameters:
    ///   - instant: Until when the medium is needed, in milliseconds since 1970, from 0 to ``OwnedDescriptor/latest``.
    ///   - owner: For whom it was fetched.
    /// - Throws: ``MediaStoreError``.
    mutating func complete(neededUntil instant: Int64, of owner: MediaOwner) throws(MediaStoreError) {
        guard let descriptor = descriptor.take() else { return }
        try descriptor.setModified(instant, of: owner)
        try descriptor.close()
    }
}
