package import NotificationModel

/// A notification whose content may be changed before delivery.
package struct EnrichmentInput: Sendable {
    package var application: String
    package var recipient: String
    package var identifier: String
    package var requestID: String
    /// Which delivery of the request it is; nil for the only one.
    package var occurrence: Timestamp?
    /// The content as requested, a JSON object.
    package var content: [UInt8]
    /// When the content is needed: of the whole stage, and for an enricher that of its step.
    package var deadline: ContinuousClock.Instant
    /// Until when media must be kept, in milliseconds since 1970.
    package var neededUntil: Int64

    /// A notification with all that enrichers learn about it.
    package init(
        application: String,
        recipient: String,
        identifier: String,
        requestID: String,
        occurrence: Timestamp? = nil,
        content: [UInt8],
        deadline: ContinuousClock.Instant,
        neededUntil: Int64
    ) {
        (self.application, self.recipient, self.identifier) = (application, recipient, identifier)
        (self.requestID, self.occurrence, self.content) = (requestID, occurrence, content)
        (self.deadline, self.neededUntil) = (deadline, neededUntil)
    }
}

/// One kind of change to the content of notifications.
package protocol Enricher: Sendable {
    /// How chains and reports name it, as ``EnrichmentChain/isName(_:)`` allows.
    var name: String { get }

    /// Changes the draft, in as many updates as there are steps worth keeping: the stage continues with the last one
    /// when the time is over. It should end soon after its task is cancelled; the stage does not wait for that.
    ///
    /// - Parameters:
    ///   - draft: The content so far.
    ///   - input: The notification as requested; its deadline is that of this step.
    func enrich(_ draft: EnrichmentDraft, for input: EnrichmentInput) async -> EnricherOutcome
}

/// How an enricher ended by itself.
package enum EnricherOutcome: Hashable, Sendable {
    /// It did all it had to do.
    case applied
    /// There was nothing to do.
    case skipped
    /// It did less than it had to; what the draft has meanwhile is its best attempt.
    case failed(EnrichmentFailure)
}

/// Why an enricher, or a part of its work, failed.
package struct EnrichmentFailure: Error, Hashable, Sendable {
    /// A reason code, lower-case letters and hyphens.
    package var code: String
    /// For logs: no URL, no content.
    package var detail: String

    /// A failure.
    package init(code: String, detail: String) { (self.code, self.detail) = (code, detail) }

    /// A failure with a code of the model.
    package init(_ reason: ReasonCode, _ detail: String) { self.init(code: reason.rawValue, detail: detail) }
}

/// The time of the stage; tests have their own.
package struct EnrichmentClock: Sendable {
    /// The current time.
    package var now: @Sendable () -> ContinuousClock.Instant
    /// Returns when the time has passed; throws when its task is cancelled.
    package var sleep: @Sendable (Duration) async throws -> Void

    /// A clock.
    package init(
        now: @escaping @Sendable () -> ContinuousClock.Instant,
        sleep: @escaping @Sendable (Duration) async throws -> Void
    ) {
        (self.now, self.sleep) = (now, sleep)
    }

    /// The system's monotonic clock.
    package static let system = EnrichmentClock(
        now: { ContinuousClock.now },
        sleep: { try await Task.sleep(for: $0, clock: .continuous) }
    )
}
