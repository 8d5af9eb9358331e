import NotificationModel
import ServiceHTTP
import Synchronization

/// The addresses under which clients get stored media:
///
///     <base>/media/<digest>.<extension>
///     <base>/media/<digest>.<extension>?expires=<seconds since 1970>&signature=<base64url>
///
/// The second form where keys are configured: who does not have the link does not get the medium, and the link ends.
/// The signature is the HMAC-SHA-256 of `<file name>\n<expires>`, in base64url without padding (RFC 4648, 5).
package final class MediaLinks: Sendable {
    /// The result of a check.
    package enum Verdict: Hashable, Sendable {
        /// No keys are configured: every link is valid.
        case open
        /// - Parameter seconds: The rest of the link's life, at least 1.
        case valid(seconds: Int64)
        case expired
        /// The link has no signature, or none that one of the keys made for this medium and instant.
        case wrong
    }

    private let base: String
    /// Never shown.
    private let current: Mutex<[[UInt8]]>
    private var keys: [[UInt8]] { current.withLock { $0 } }

    /// - Parameters:
    ///   - base: The address of the service for clients, `https://media.example.com`; a slash at the end is dropped.
    ///   - keys: The first one signs, all verify: the next or the previous key comes second during a rotation. Without
    ///     keys links are open.
    package init(base: String, keys: [[UInt8]]) {
        var base = base
        while base.hasSuffix("/") { base.removeLast() }
        self.base = base
        current = Mutex(keys)
    }

    /// Signs and verifies with other keys from now on.
    package func use(keys: [[UInt8]]) { current.withLock { $0 = keys } }

    /// The address of a medium.
    ///
    /// - Parameters:
    ///   - media: The medium.
    ///   - until: Until when the link is valid, in milliseconds since 1970; rounded up to a second. Without keys it
    ///     does not matter.
    package func url(of media: StoredMedia, until: Int64) -> String {
        let name = media.fileName
        let address = "\(base)/media/\(name)"
        guard let key = keys.first else { return address }
        let until = until.clamped(to: OwnedDescriptor.latest)
        let expires = until / 1000 + (until % 1000 == 0 ? 0 : 1)
        let signature = Base64URL.encode(HMACSHA256.code(of: Self.signed(name, expires), key: key))
        return "\(address)?expires=\(expires)&signature=\(signature)"
    }

    /// Checks the link of a request, in a time that does not depend on where signatures differ.
    ///
    /// - Parameters:
    ///   - fileName: As in the address.
    ///   - expires: The parameter of the query.
    ///   - signature: The parameter of the query.
    ///   - now: Milliseconds since 1970.
    package func verify(_ fileName: String, expires: String?, signature: String?, at now: Int64) -> Verdict {
        let keys = keys
        guard !keys.isEmpty else { return .open }
        // The signature covers the text, so only the text that `url` writes is valid.
        guard let expires, let signature, let end = Int64(expires), end >= 0, "\(end)" == expires else { return .wrong }
        guard let code = Base64URL.decode(signature[...].utf8) else { return .wrong }
        let signed = Self.signed(fileName, end)
        guard keys.contains(where: { HMACSHA256.isCode(code, of: signed, key: $0) }) else { return .wrong }
        let seconds = end - now.clamped(to: OwnedDescriptor.latest) / 1000
        return seconds > 0 ? .valid(seconds: seconds) : .expired
    }

    private static func signed(_ fileName: String, _ expires: Int64) -> [UInt8] {
        Array("\(fileName)\n\(expires)".utf8)
    }
}

extension MediaLinks: CustomStringConvertible, CustomReflectable {
    /// Nothing of the keys.
    package var description: String { "\(base)/media, \(keys.count) keys" }

    /// Nothing of the keys.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
