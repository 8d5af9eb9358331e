/// What is wrong with a push, found before it is sent.
package struct APNsProblem: Hashable, Sendable, CustomStringConvertible {
    package enum Severity: String, CaseIterable, Sendable {
        /// APNs refuses it, or the device drops it.
        case refused
        /// It arrives, and a part of it has no effect.
        case ineffective
    }

    package var severity: Severity
    /// A header, or the path of a member of the payload, such as `aps.alert.title`; `payload` for all of it.
    package var field: String
    /// For people: what is wrong, and what to do.
    package var detail: String

    package init(_ severity: Severity, _ field: String, _ detail: String) {
        (self.severity, self.field, self.detail) = (severity, field, detail)
    }

    package var description: String { "\(field): \(detail)" }
}

extension APNsPush {
    /// What of Apple's rules the push breaks, headers first; empty when it is coherent.
    ///
    /// - Parameter hasCertificate: whether a certificate, and no key, is the credential.
    package func problems(hasCertificate: Bool = false) -> [APNsProblem] {
        APNsHeaderCheck.problems(headers, hasCertificate: hasCertificate)
            + APNsPayloadCheck.problems(payload, of: headers.pushType)
    }
}

enum APNsHeaderCheck {
    static func problems(_ headers: APNsHeaders, hasCertificate: Bool) -> [APNsProblem] {
        var problems: [APNsProblem] = []
        func refuse(_ field: String, _ detail: String) { problems.append(.init(.refused, field, detail)) }

        let type = headers.pushType
        if !headers.topic.hasSuffix(type.topicSuffix) || headers.topic.utf8.count == type.topicSuffix.utf8.count {
            refuse("apns-topic", "must be the bundle identifier and \(type.topicSuffix): else nothing is delivered")
        } else if type.topicSuffix.isEmpty,
            let other = APNsPushType.allCases.first(where: {
                !$0.topicSuffix.isEmpty && headers.topic.hasSuffix($0.topicSuffix)
            })
        {
            refuse("apns-topic", "has the suffix of \(other.rawValue), and the push type is \(type.rawValue)")
        }
        if !isHeaderText(headers.topic) { refuse("apns-topic", "may have printable characters of ASCII only") }
        if type == .background, headers.priority == .immediate {
            refuse("apns-priority", "must be 5 in the background")
        }
        if type == .liveactivity, headers.priority == .lowest {
            refuse("apns-priority", "of a Live Activity is 5 or 10")
        }
        if let expiration = headers.expiration, expiration < 0 {
            refuse("apns-expiration", "is in seconds since 1970, or 0 to try once")
        }
        if let id = headers.collapseID {
            let bytes = id.utf8.count
            if !(1...APNsHeaders.maximumCollapseIDBytes).contains(bytes) {
                refuse(
                    "apns-collapse-id",
                    "has \(bytes) bytes, 1 to \(APNsHeaders.maximumCollapseIDBytes) are allowed"
                )
            }
            if id.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) {
                refuse("apns-collapse-id", "must not have control characters")
            }
        }
        if hasCertificate, !type.allowsCertificate {
            refuse("apns-push-type", "\(type.rawValue) needs a key: APNs takes it from no provider with a certificate")
        }
        return problems
    }

    private static func isHeaderText(_ text: String) -> Bool { text.utf8.allSatisfy { (0x21...0x7E).contains($0) } }
}
