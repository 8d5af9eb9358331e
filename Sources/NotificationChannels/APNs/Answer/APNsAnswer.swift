package import NotificationModel

/// An answer of APNs.
package struct APNsAnswer: Hashable, Sendable {
    /// Of the answer's body more is not read.
    package static let maximumBodyBytes = 4096
    /// The longest reason that is kept, in bytes.
    private static let maximumReasonBytes = 128
    /// The longest pause that is obeyed, in milliseconds.
    private static let longestPause: Int64 = 24 * 3_600_000

    /// Of HTTP; 0 for the reason of a connection that APNs ended.
    package let status: Int
    /// As APNs spells it, without control characters; nil when there is none.
    package let reasonText: String?
    /// With 410: since when the token is known to be gone.
    package let timestamp: Timestamp?
    /// The header `apns-id`.
    package let id: String?
    /// The header `apns-unique-id`, of the development environment.
    package let uniqueID: String?
    /// The pause that `retry-after` asks for, in milliseconds; nil without one in seconds.
    package let retryAfter: Int64?

    /// - Parameters:
    ///   - status: of HTTP.
    ///   - body: JSON with `reason` and perhaps `timestamp`; anything else has no reason.
    ///   - header: the value of a header by its name in lower case.
    package init(status: Int, body: [UInt8], header: (String) -> String? = { _ in nil }) {
        self.status = status
        // A failure is an object of two members; a success has no body.
        let value = (1...Self.maximumBodyBytes).contains(body.count) ? try? JSONValue.parse(body, maximumDepth: 2) : nil
        reasonText = value?["reason"]?.stringValue.flatMap { text in
            (1...Self.maximumReasonBytes).contains(text.utf8.count) ? PrintableText.escaped(text) : nil
        }
        timestamp = value?["timestamp"]?.integerValue.map(Timestamp.init(rawValue:))
        (id, uniqueID) = (header("apns-id"), header("apns-unique-id"))
        retryAfter = header("retry-after").flatMap(Self.milliseconds)
    }

    private static func milliseconds(_ text: String) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        guard let seconds = Int64(text), seconds < longestPause / 1000 else { return longestPause }
        return seconds * 1000
    }

    /// Nil when there is none, or an unknown one.
    package var reason: APNsReason? { reasonText.flatMap(APNsReason.init(rawValue:)) }

    package var action: APNsAction { APNsAction(status: status, reason: reason) }
}
