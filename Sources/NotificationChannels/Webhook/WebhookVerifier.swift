import COpenSSL
package import NotificationModel
import OutboundHTTP

/// Why a request is not taken for one of Carillon's.
package struct WebhookRefusal: Error, Hashable, CustomStringConvertible {
    /// The header that it is about.
    package let header: String
    /// A sentence for people; contains no key and no signature.
    package let description: String

    init(_ header: String, _ description: String) { (self.header, self.description) = (header, description) }
}

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

    /// Checks that one of the keys has signed the request at about this time.
    ///
    /// - Parameters:
    ///   - id: The header `webhook-id`; nil when it is missing, as of the others.
    ///   - timestamp: The header `webhook-timestamp`, seconds since 1970.
    ///   - signatures: The header `webhook-signature`.
    /// - Throws: The first thing that is wrong.
    package func check(
        id: String?,
        timestamp: String?,
        signatures: String?,
        body: [UInt8],
        at now: Timestamp
    ) throws(WebhookRefusal) {
        func present(_ value: String?, _ header: String) throws(WebhookRefusal) -> String {
            guard let value, !value.isEmpty else { throw WebhookRefusal(header, "the header is missing") }
            return value
        }
        let id = try present(id, "webhook-id")
        let timestamp = try present(timestamp, "webhook-timestamp")
        let signatures = try present(signatures, "webhook-signature")
        guard let seconds = Int64(timestamp) else {
            throw WebhookRefusal("webhook-timestamp", "is not a number of seconds since 1970")
        }
        let current = now.rawValue / 1000
        guard (current - Self.tolerance...current + Self.tolerance).contains(seconds) else {
            throw WebhookRefusal(
                "webhook-timestamp",
                "is more than five minutes \(seconds < current ? "old" : "ahead"): compare the clocks"
            )
        }
        let own = signer.signatures(of: Array("\(id).\(timestamp).".utf8) + body).split(separator: " ")
        let isSigned = signatures.split(separator: " ").contains { signature in
            own.contains { Self.isEqual(Array($0.utf8), Array(signature.utf8)) }
        }
        guard isSigned else { throw WebhookRefusal("webhook-signature", "no key of the file has signed this request") }
    }

    /// In a time that does not depend on where they differ.
    private static func isEqual(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        one.count == other.count && CRYPTO_memcmp(one, other, one.count) == 0
    }
}
