import COpenSSL
import Foundation

/// Signs requests as Standard Webhooks describes: HMAC-SHA-256 over `id.timestamp.body`, one signature for each key.
struct WebhookSigner: Sendable {
    /// The newest first; never shown.
    private let keys: [[UInt8]]

    init(keys: [[UInt8]]) { self.keys = keys }

    /// The value of `webhook-signature`.
    ///
    /// - Parameter signed: `id.timestamp.body`.
    func signatures(of signed: [UInt8]) -> String {
        keys.map { "v1,\(Data(Self.code(of: signed, with: $0)).base64EncodedString())" }.joined(separator: " ")
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
    var description: String { "\(keys.count) keys" }

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
        func failure(_ why: String) -> WebhookSettingsError { WebhookSettingsError(.keysFile, "\(path) \(why)") }
        let bytes: Data
        do {
            bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        } catch {
            throw failure("cannot be read: \(error.localizedDescription)")
        }
        guard bytes.count <= maximumBytes else {
            throw failure("has \(bytes.count) bytes; a file of keys may have at most \(maximumBytes)")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw failure("is not UTF-8") }
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

    /// Whether users other than owner and group may read it.
    static func isExposed(_ path: String) -> Bool {
        let mode = try? FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        return (mode ?? 0) & 0o004 != 0
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
