import COpenSSL
import Foundation
import ServiceHTTP
import Synchronization

/// Signs requests as Standard Webhooks describes: HMAC-SHA-256 over `id.timestamp.body`, one signature for each key.
final class WebhookSigner: Sendable {
    /// In the order of the file; never shown.
    private let keys: Mutex<[[UInt8]]>

    init(keys: [[UInt8]]) { self.keys = Mutex(keys) }

    var count: Int { keys.withLock { $0.count } }

    /// Signs with the keys of another signer from now on.
    func use(keysOf other: WebhookSigner) {
        let new = other.keys.withLock { $0 }
        keys.withLock { $0 = new }
    }

    /// The value of `webhook-signature`.
    ///
    /// - Parameter signed: `id.timestamp.body`.
    func signatures(of signed: [UInt8]) -> String {
        keys.withLock { $0 }.map { "v1,\(Data(Self.code(of: signed, with: $0)).base64EncodedString())" }.joined(
            separator: " "
        )
    }

    private static func code(of bytes: [UInt8], with key: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: Int(EVP_MAX_MD_SIZE)) { digest, count in
            var length: UInt32 = 0
            HMAC(EVP_sha256(), key, Int32(key.count), bytes, bytes.count, digest.baseAddress, &length)
            count = Int(length)
        }
    }
}

extension WebhookSigner: CustomStringConvertible, CustomReflectable {
    /// Nothing of the keys.
    var description: String { "\(count) keys" }

    /// Nothing of the keys.
    var customMirror: Mirror { Mirror(self, children: []) }
}

/// The file of `webhook.keys.file`: one key per line, as Standard Webhooks writes it.
///
///     # the current key, and during a rotation the next or the previous one
///     whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw
///
/// A key is `whsec_` and the Base64 of 24 to 64 random bytes. Empty lines and lines that begin with `#` are ignored.
/// Messages name lines and never show a key.
enum WebhookKeyFile {
    /// A larger file is a mistake.
    static let maximumBytes = 16 * 1024
    static let maximumKeys = 2
    static let keyBytes = 24...64
    private static let prefix = "whsec_"

    static func load(path: String) throws(WebhookSettingsError) -> WebhookSigner {
        let text: String
        do throws(SecretFile.Problem) {
            text = try SecretFile.text(path: path, maximumBytes: maximumBytes, what: "a file of keys")
        } catch {
            throw WebhookSettingsError(.keysFile, "\(path) \(error.text)")
        }
        return WebhookSigner(keys: try keys(in: text, of: path))
    }

    static func keys(in text: String, of path: String) throws(WebhookSettingsError) -> [[UInt8]] {
        var keys: [[UInt8]] = []
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (index, line) in lines.enumerated() {
            let line = line.trimmingCharacters(in: .whitespaces)
            if line.isEmpty || line.hasPrefix("#") { continue }
            func failure(_ why: String) -> WebhookSettingsError {
                WebhookSettingsError(.keysFile, "\(path):\(index + 1): \(why)")
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
        guard !keys.isEmpty else { throw WebhookSettingsError(.keysFile, "\(path) has no key") }
        guard keys.count <= maximumKeys else {
            throw WebhookSettingsError(.keysFile, "\(path) has \(keys.count) keys; at most \(maximumKeys) sign")
        }
        return keys
    }
}

/// An invalid setting of the channel `webhook`, found at the start.
struct WebhookSettingsError: Error, Hashable, CustomStringConvertible {
    enum Key: String {
        case url = "webhook.url"
        case keysFile = "webhook.keys.file"
    }

    let key: Key
    /// Never contains a key or a URL.
    let message: String

    init(_ key: Key, _ message: String) { (self.key, self.message) = (key, message) }

    var description: String { "\(key.rawValue): \(message)" }
}
