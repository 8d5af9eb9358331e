import NotificationModel

/// What became of one attachment.
package struct AttachmentReport: Hashable, Sendable {
    package enum Outcome: Hashable, Sendable {
        /// The content refers to the stored medium.
        case attached(FetchedAttachment)
        /// The content is without it; a reason code.
        case missing(reason: String)
    }

    package var identifier: String
    package var outcome: Outcome

    /// A report about the attachment with this identifier.
    package init(identifier: String, outcome: Outcome) { (self.identifier, self.outcome) = (identifier, outcome) }
}

/// What became of one step of the chain.
package struct EnricherReport: Hashable, Sendable {
    package enum Outcome: Hashable, Sendable {
        case applied
        case failed(EnrichmentFailure)
        /// The step's budget or the stage's deadline passed.
        case timedOut(reason: String)
        /// It had nothing to do, or did not begin.
        case skipped(reason: String)
    }

    package var name: String
    package var outcome: Outcome
    package var duration: Duration

    /// The code in the report; nil when it was applied.
    package var reason: String? {
        switch outcome {
        case .applied: nil
        case .failed(let failure): failure.code
        case .timedOut(let reason), .skipped(let reason): reason
        }
    }
}

/// What the stage did to a notification: the member `enrichment` of a delivery event, and more for logs and metrics.
package struct EnrichmentReport: Sendable {
    /// Which content is delivered.
    package enum Content: String, Sendable {
        /// Changed, and every enricher did what it had to.
        case enriched
        /// Changed by what came in time.
        case bestAttempt = "best-attempt"
        /// As requested.
        case original
    }

    package var duration: Duration
    /// At most ``maximumAttachments``.
    package var attachments: [AttachmentReport]
    /// At most ``EnrichmentChain/maximumSteps``.
    package var enrichers: [EnricherReport]
    /// Nil when nothing is delivered.
    package var content: Content?
    /// Why all changes were ignored, if it was not the failure of an enricher: `no-alert-text` or `invalid`.
    package var reason: String?

    /// More are left out; a chain can fetch attachments more than once.
    package static let maximumAttachments = 2 * ModelLimits.attachments

    /// The JSON object; its size is bounded because all of its parts are.
    package var json: [UInt8] {
        var members: [JSONValue.Member] = [
            .init("milliseconds", .number("\(max(0, duration.milliseconds))")),
            .init("attachments", .array(attachments.prefix(Self.maximumAttachments).map(\.json))),
            .init("enrichers", .array(enrichers.map(\.json))),
        ]
        if let content { members.append(.init("content", .string(content.rawValue))) }
        if let reason { members.append(.init("reason", .string(reason))) }
        return JSONValue.object(members).json
    }
}

extension AttachmentReport {
    fileprivate var json: JSONValue {
        var members: [JSONValue.Member] = [.init("identifier", .string(identifier))]
        switch outcome {
        case .attached(let medium):
            members += [
                .init("outcome", .string("attached")),
                .init("kind", .string(medium.facts.type.kind.rawValue)),
                .init("type", .string(medium.facts.type.uniformType)),
                .init("bytes", .number("\(medium.facts.bytes)")),
            ]
            if let width = medium.facts.width { members.append(.init("width", .number("\(width)"))) }
            if let height = medium.facts.height { members.append(.init("height", .number("\(height)"))) }
            members += [
                .init("digest", .string("sha256:\(medium.digest)")),
                .init("url", .string(medium.url)),
            ]
        case .missing(let reason):
            members += [.init("outcome", .string("missing")), .init("reason", .string(bounded(reason)))]
        }
        return .object(members)
    }
}

extension EnricherReport {
    fileprivate var json: JSONValue {
        let outcome =
            switch outcome {
            case .applied: "applied"
            case .failed: "failed"
            case .timedOut: "timed-out"
            case .skipped: "skipped"
            }
        var members: [JSONValue.Member] = [.init("name", .string(name)), .init("outcome", .string(outcome))]
        if let reason { members.append(.init("reason", .string(bounded(reason)))) }
        members.append(.init("milliseconds", .number("\(max(0, duration.milliseconds))")))
        return .object(members)
    }
}

/// Reason codes come from injected parts, too.
private func bounded(_ reason: String) -> String { String(reason.unicodeScalars.prefix(64)) }

extension String {
    /// Swift's strings are equal if they are equivalent in Unicode; identifiers are equal only byte by byte.
    func hasSameBytes(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
