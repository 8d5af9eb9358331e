#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Why the store cannot take or give a medium.
package struct MediaStoreError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: String, CaseIterable, Sendable {
        /// No room: every stored medium is still needed, or the disk or its quota is used up.
        case full = "store-full"
        /// The file system reported an error.
        case failed = "store-failed"
    }

    package let code: Code
    /// May name paths of the store; never contents.
    package let detail: String

    package init(_ code: Code, _ detail: String) { (self.code, self.detail) = (code, detail) }

    /// - Parameters:
    ///   - errno: The error of a system call.
    ///   - failure: What failed, and where: `/media/incoming cannot be created`.
    init(errno: Int32, _ failure: String) {
        self.init(
            errno == ENOSPC || errno == EDQUOT ? .full : .failed,
            "\(failure): \(String(cString: strerror(errno)))"
        )
    }

    package var description: String { "\(code.rawValue): \(detail)" }
}
