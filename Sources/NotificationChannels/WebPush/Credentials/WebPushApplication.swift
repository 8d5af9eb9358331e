import NotificationModel

/// How notifications of one application reach its users' browsers.
package struct WebPushApplication: Sendable {
    /// Who sends.
    package var key: VAPIDKey
    /// The page that a notification opens.
    package var page: PageAddress
    /// What becomes of a message that is too large.
    package var oversize = OversizePolicy.standard

    package init(key: VAPIDKey, page: PageAddress) { (self.key, self.page) = (key, page) }
}

/// The address of the page that a notification opens: an `https` URL, perhaps with `{target}`.
package struct PageAddress: Hashable, Sendable {
    private static let place = "{target}"

    private let parts: [String]

    /// - Returns: Nil for what is no `https` URL of printable ASCII, has another brace, or `{target}` in its host.
    package init?(_ text: String) {
        let parts = text.split(separator: Self.place, omittingEmptySubsequences: false).map(String.init)
        let head = parts.first ?? ""
        let host = head.dropFirst(8).prefix { !"/?#".contains($0) }
        guard text.utf8.count <= ModelLimits.urlBytes, head.hasPrefix("https://"), !host.isEmpty,
            parts.count == 1 || host.endIndex < head.endIndex,
            parts.allSatisfy({ $0.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x7B && $0 != 0x7D } })
        else { return nil }
        self.parts = parts
    }

    /// The page for a notification.
    ///
    /// - Parameter target: its `targetContentIdentifier`, percent-encoded except for `/`; nothing without one.
    package func text(for target: String?) -> String {
        let encoded = (target ?? "").utf8.reduce(into: "") { text, byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x2F, 0x5F, 0x7E:
                text.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                text += digits.count == 1 ? "%0\(digits)" : "%\(digits)"
            }
        }
        return parts.joined(separator: encoded)
    }
}

/// The applications of the service. A value that is read once, and again after SIGHUP.
package struct WebPushApplications: Sendable {
    /// By the name in keys of notifications.
    let byName: [ExactText: WebPushApplication]

    init(_ byName: [ExactText: WebPushApplication] = [:]) { self.byName = byName }

    package var count: Int { byName.count }

    /// - Parameter name: as in keys of notifications.
    package subscript(name: String) -> WebPushApplication? { byName[ExactText(name)] }
}
