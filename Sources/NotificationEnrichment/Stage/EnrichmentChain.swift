package import NotificationModel

/// Enrichers in the order in which they run, each with its time and what its failure means.
package struct EnrichmentChain: Hashable, Sendable {
    /// One enricher of a chain.
    package struct Step: Hashable, Sendable {
        /// The enricher's name.
        package var enricher: String
        /// Its own time limit; nil when only the stage's deadline counts.
        package var budget: Duration?
        package var onFailure: FailurePolicy

        /// A step.
        package init(_ enricher: String, budget: Duration? = nil, onFailure: FailurePolicy = .bestAttempt) {
            (self.enricher, self.budget, self.onFailure) = (enricher, budget, onFailure)
        }
    }

    /// What happens when an enricher fails, times out, or does not run because the stage's deadline has passed.
    package enum FailurePolicy: String, CaseIterable, Sendable {
        /// The chain goes on with what it has so far, the enricher's last update included.
        case bestAttempt = "best-attempt"
        /// The chain ends, and the original content is delivered.
        case original
        /// The chain ends, and nothing is delivered.
        case doNotDeliver = "do-not-deliver"
    }

    package var steps: [Step]

    /// A chain of at most ``maximumSteps``.
    package init(_ steps: [Step]) { self.steps = steps }

    /// Attachments only.
    package static let attachments = EnrichmentChain([Step(AttachmentsEnricher.standardName)])

    package static let maximumSteps = 16
    package static let budgets: ClosedRange<Duration> = .milliseconds(1) ... .seconds(60)

    /// Whether text can be the name of an enricher: 1 to 64 of `a`–`z`, `0`–`9`, `:`, `-` and `_`.
    package static func isName(_ text: some StringProtocol) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
                case UInt8(ascii: ":"), UInt8(ascii: "-"), UInt8(ascii: "_"): true
                default: false
                }
            }
    }
}

/// The chains of a service.
package struct EnrichmentChains: Hashable, Sendable {
    /// For contents without a category, or with one that has no chain of its own.
    package var standard: EnrichmentChain
    /// By `categoryIdentifier`.
    package var byCategory: [ExactText: EnrichmentChain]

    /// Chains; attachments only unless said otherwise.
    package init(standard: EnrichmentChain = .attachments, byCategory: [ExactText: EnrichmentChain] = [:]) {
        (self.standard, self.byCategory) = (standard, byCategory)
    }

    /// The chain for a content.
    ///
    /// - Parameter category: Its `categoryIdentifier`.
    package func chain(forCategory category: String?) -> EnrichmentChain {
        category.flatMap { byCategory[ExactText($0)] } ?? standard
    }
}

/// A chain that cannot run as it is configured.
package struct EnrichmentChainError: Error, Hashable, CustomStringConvertible {
    /// Which step is wrong, and how to write it.
    package let message: String

    init(_ message: String) { self.message = message }

    package var description: String { message }
}
