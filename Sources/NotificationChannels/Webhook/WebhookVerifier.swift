import COpenSSL
package import NotificationModel
import ServiceHTTP

/// The receiver's side of the signatures: for `carillon receive`, and for tests.
package struct WebhookVerifier: Sendable {
    /// A request that was signed more seconds before or after now is refused: someone who has recorded it may repeat it.
    private static let tolerance: Int64 = 5 * 60

    private let signer: RequestSigner

    /// - Parameter keysFile: As `webhook.keys.file`.
    /// - Throws: `SigningKeyError` that names the line.
    package init(keysFile: String) throws {
        signer = try SigningKeyFile.load(path: keysFile)
    }

    init(_ signer: RequestSigner) { self.signer = signer }

    /// Whether one of the keys has signed the request at about this time.
    ///
    /// - Parameters:
    ///   - id: The header `webhook-id`.
    ///   - timestamp: The header `webhook-timestamp`, seconds since 1970.
    ///   - signatures: The header `webhook-signature`.
    package func verifies(id: String, timestamp: String, signatures: String, body: [UInt8], at now: Timestamp) -> Bool {
        let current = now.rawValue / 1000
        guard let seconds = Int64(timestamp), (current - Self.tolerance...current + Self.tolerance).contains(seconds)
        else { return false }
        let own = signer.signatures(of: Array("\(id).\(timestamp).".utf8) + body).split(separator: " ")
        return signatures.split(separator: " ").contains { signature in
            own.contains { Self.isEqual(Array($0.utf8), Array(signature.utf8)) }
        }
    }

    /// In a time that does not depend on where they differ.
    private static func isEqual(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        one.count == other.count && CRYPTO_memcmp(one, other, one.count) == 0
    }
}
