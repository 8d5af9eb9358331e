import COpenSSL
import Foundation
import ServiceHTTP
import Synchronization

/// Signs requests as Standard Webhooks describes: HMAC-SHA-256 over `id.timestamp.body`, one signature for each key.
package final class RequestSigner: Sendable {
    /// In the order of the file; never shown.
    private let keys: Mutex<[[UInt8]]>

    package init(keys: [[UInt8]]) { self.keys = Mutex(keys) }

    package var count: Int { keys.withLock { $0.count } }

    /// Signs with the keys of another signer from now on.
    package func use(keysOf other: RequestSigner) {
        let new = other.keys.withLock { $0 }
        keys.withLock { $0 = new }
    }

    /// The value of `webhook-signature`.
    ///
    /// - Parameter signed: `id.timestamp.body`.
    package func signatures(of signed: [UInt8]) -> String {
        keys.withLock { $0 }.map { "v1,\(Data(HMACSHA256.code(of: signed, key: $0)).base64EncodedString())" }.joined(
            separator: " "
        )
    }
}

extension RequestSigner: CustomStringConvertible, CustomReflectable {
    /// Nothing of the keys.
    package var description: String { "\(count) keys" }

    /// Nothing of the keys.
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// A file of keys that sign: one key per line, as Standard Webhooks writes it.
///
///     # the current key, and during a rotation the next or the previous one
///     whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw
///
/// A key is `whsec_` and the Base64 of 24 to 64 random bytes. Empty lines and lines that begin with `#` are ignored.
/// Messages name lines and never show a key.
package enum SigningKeyFile {
    /// A larger file is a mistake.
    package static let maximumBytes = 16 * 1024
    package static let maximumKeys = 2
    package static let keyBytes = 24...64
    private static let prefix = "whsec_"

    package static func load(path: String) throws(SigningKeyError) -> RequestSigner {
        RequestSigner(keys: try keys(path: path))
    }

    /// The keys of a file, in its order.
    package static func keys(path: String) throws(SigningKeyError) -> [[UInt8]] {
        let text: String
        do throws(SecretFile.Problem) {
            text = try SecretFile.text(path: path, maximumBytes: maximumBytes, what: "a file of keys")
        } catch {
            throw SigningKeyError("\(path) \(error.text)")
        }
        return try keys(in: text, of: path)
    }

    package static func keys(in text: String, of path: String) throws(SigningKeyError) -> [[UInt8]] {
        var keys: [[UInt8]] = []
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (index, line) in lines.enumerated() {
            let line = line.trimmingCharacters(in: .whitespaces)
            if line.isEmpty || line.hasPrefix("#") { continue }
            func failure(_ why: String) -> SigningKeyError {
                SigningKeyError("\(path):\(index + 1): \(why)")
            }
            guard line.hasPrefix(prefix), let key = Data(base64Encoded: String(line.dropFirst(prefix.count))) else {
                throw failure("a key is whsec_ and Base64")
            }
            guard keyBytes.contains(key.count) else {
                throw failure(
                    "a key has \(keyBytes.lowerBound) to \(keyBytes.upperBound) bytes, this one \(key.count)"
                )
            }
            guard !keys.contains(Array(key)) else { throw failure("the same key twice") }
            keys.append(Array(key))
        }
        guard !keys.isEmpty else { throw SigningKeyError("\(path) has no key") }
        guard keys.count <= maximumKeys else {
            throw SigningKeyError("\(path) has \(keys.count) keys; at most \(maximumKeys) sign")
        }
        return keys
    }
}

/// A file of keys that cannot be used.
package struct SigningKeyError: Error, Hashable, CustomStringConvertible {
    /// Names the file and the line; never contains a key.
    package let message: String

    package init(_ message: String) { self.message = message }

    package var description: String { message }
}
