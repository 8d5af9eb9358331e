import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A file of secrets that a setting names: tokens, keys. Its errors never quote it.
package enum SecretFile {
    /// Why it cannot be used, to follow the path: `cannot be read: …`.
    package struct Problem: Error {
        package let text: String

        package init(text: String) { self.text = text }
    }

    /// The text of the file.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - maximumBytes: A larger file is a mistake.
    ///   - what: What it is, for the message: `a token file`.
    package static func text(path: String, maximumBytes: Int, what: String) throws(Problem) -> String {
        let bytes: Data
        do {
            bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        } catch {
            throw Problem(text: "cannot be read: \(error.localizedDescription)")
        }
        guard bytes.count <= maximumBytes else {
            throw Problem(text: "has \(bytes.count) bytes; \(what) may have at most \(maximumBytes)")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw Problem(text: "is not UTF-8") }
        return text
    }

    /// Whether users other than owner and group may read it. A group is a deliberate way to share secrets with a
    /// service.
    package static func isExposed(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IROTH != 0
    }
}
