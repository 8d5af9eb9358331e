import NotificationModel

/// Which content is delivered, and what was done to get it.
package struct EnrichmentResult: Sendable {
    package enum Verdict: Hashable, Sendable {
        /// Deliver this content, a JSON object that is valid as the content of a request.
        case enriched(content: [UInt8])
        /// Deliver the content as requested.
        case original
        /// Deliver nothing; the reason code of the enricher that failed.
        case doNotDeliver(reason: String)
    }

    package var verdict: Verdict
    /// The member `enrichment` of the delivery event, a JSON object.
    package var report: [UInt8]
    /// The same for logs and metrics.
    package var summary: EnrichmentReport

    fileprivate init(_ verdict: Verdict, _ summary: EnrichmentReport) {
        (self.verdict, self.summary, report) = (verdict, summary, summary.json)
    }
}

/// Runs the chain of enrichers over the content of a notification, all within one deadline.
///
/// It follows the notification service extension: a transformation with a deadline, a best attempt that counts when the
/// time is over, and the original content when nothing came, or when the alert text is gone.
///
/// 1. Each enricher continues with the content of the previous one, and updates its draft whenever something is ready.
/// 2. A step ends with the enricher, its budget or the stage's deadline, whichever is first; then the last update
///    counts, and work still in progress is cancelled and its result ignored.
/// 3. A change that would make the content invalid as that of a request is a failure of the step, and is dropped.
/// 4. After a failure the step's policy decides; that of the first failure whose policy is not `best-attempt` ends the
///    chain. A step that the deadline leaves no time for has failed, too.
package final class EnrichmentStage: Sendable {
    private let chains: EnrichmentChains
    private let enrichers: [String: any Enricher]
    private let clock: EnrichmentClock

    /// A stage for configured chains.
    ///
    /// - Parameters:
    ///   - chains: Each enricher that they name must be given.
    ///   - enrichers: With different names.
    ///   - clock: The clock of deadlines and budgets.
    /// - Throws: A chain that is too long or names an unknown enricher, or a name that is invalid or given twice.
    package init(
        chains: EnrichmentChains,
        enrichers: [any Enricher],
        clock: EnrichmentClock = .system
    ) throws(EnrichmentChainError) {
        var named: [String: any Enricher] = [:]
        for enricher in enrichers {
            guard EnrichmentChain.isName(enricher.name), named.updateValue(enricher, forKey: enricher.name) == nil
            else {
                throw EnrichmentChainError("the enricher `\(enricher.name)` exists twice, or has an invalid name")
            }
        }
        let all =
            [("the default chain", chains.standard)]
            + chains.byCategory.map { ("the chain of `\(PrintableText.escaped($0.text))`", $1) }
        for (place, chain) in all {
            guard chain.steps.count <= EnrichmentChain.maximumSteps else {
                throw EnrichmentChainError("\(place) has more than \(EnrichmentChain.maximumSteps) steps")
            }
            for step in chain.steps where named[step.enricher] == nil {
                let known = named.keys.sorted().joined(separator: ", ")
                throw EnrichmentChainError("\(place) names the enricher `\(step.enricher)`; there are: \(known)")
            }
        }
        (self.chains, self.enrichers, self.clock) = (chains, named, clock)
    }

    /// Enriches one notification. It returns by the deadline of the input, or soon after its task is cancelled; then
    /// the result is that of a deadline at this moment.
    ///
    /// Content that is not valid is delivered as it is, whatever the policies: no enricher can read it.
    /// What becomes of a notification when there is no room to enrich it: the first policy of its chain that does not go on
    /// without a step decides.
    package func decline(_ content: [UInt8]) -> EnrichmentResult {
        var report = EnrichmentReport(duration: .zero, attachments: [], enrichers: [])
        report.reason = ReasonCode.overloaded.rawValue
        let category = (try? NotificationContent(json: content))?.categoryIdentifier
        let policies = chains.chain(forCategory: category).steps.lazy.map(\.onFailure)
        if policies.first(where: { $0 != .bestAttempt }) == .doNotDeliver {
            return EnrichmentResult(.doNotDeliver(reason: ReasonCode.overloaded.rawValue), report)
        }
        report.content = .original
        return EnrichmentResult(.original, report)
    }

    package func run(_ input: EnrichmentInput) async -> EnrichmentResult {
        let start = clock.now()
        var report = EnrichmentReport(duration: .zero, attachments: [], enrichers: [])
        guard let original = try? NotificationContent(json: input.content) else {
            (report.content, report.reason) = (.original, ReasonCode.invalid.rawValue)
            return EnrichmentResult(.original, report)
        }
        var snapshot = EnrichmentDraft.Snapshot(content: original)
        var isComplete = true
        /// The step whose policy ended the chain.
        var end: (policy: EnrichmentChain.FailurePolicy, reason: String)?
        for step in chains.chain(forCategory: original.categoryIdentifier).steps {
            guard end == nil, let enricher = enrichers[step.enricher] else {
                let outcome = EnricherReport.Outcome.skipped(reason: Reason.ended)
                report.enrichers.append(EnricherReport(name: step.enricher, outcome: outcome, duration: .zero))
                continue
            }
            let done = await perform(step, enricher, &snapshot, input)
            report.enrichers.append(done.report)
            guard done.hasFailed else { continue }
            isComplete = false
            if step.onFailure != .bestAttempt { end = (step.onFailure, done.report.reason ?? "") }
        }
        report.duration = clock.now() - start
        let requested = original.json
        var verdict = EnrichmentResult.Verdict.original
        switch end?.policy {
        case .doNotDeliver?:
            verdict = .doNotDeliver(reason: end?.reason ?? "")
        case .original?:
            report.content = .original
        case .bestAttempt?, nil:
            report.content = .original
            let json = snapshot.content.json
            if json == requested { break }
            guard NotificationContent.hasAlertText(json[...]) else {
                report.reason = Reason.noAlertText
                break
            }
            report.content = isComplete ? .enriched : .bestAttempt
            verdict = .enriched(content: json)
        }
        let delivered =
            if case .enriched = verdict { snapshot.content.attachments ?? [] } else { [NotificationAttachment]() }
        report.attachments = snapshot.attachments.map { $0.whenDelivered(delivered) }
        return EnrichmentResult(verdict, report)
    }

    /// Runs one enricher and leaves its result in the snapshot.
    private func perform(
        _ step: EnrichmentChain.Step,
        _ enricher: any Enricher,
        _ snapshot: inout EnrichmentDraft.Snapshot,
        _ input: EnrichmentInput
    ) async -> (report: EnricherReport, hasFailed: Bool) {
        let start = clock.now()
        func ended(_ outcome: EnricherReport.Outcome, hasFailed: Bool = true) -> (EnricherReport, Bool) {
            (EnricherReport(name: step.enricher, outcome: outcome, duration: clock.now() - start), hasFailed)
        }
        guard !Task.isCancelled else { return ended(.skipped(reason: Reason.cancelled)) }
        guard start < input.deadline else { return ended(.skipped(reason: Reason.deadline)) }

        var timed = input
        if let budget = step.budget { timed.deadline = min(input.deadline, start.advanced(by: budget)) }
        let draft = EnrichmentDraft(snapshot)
        var result = snapshot
        let ending = await TimedWork.run(
            within: timed.deadline - start,
            sleep: clock.sleep,
            whenEnded: { result = draft.close() }
        ) { [timed] in
            await enricher.enrich(draft, for: timed)
        }
        snapshot.attachments = result.attachments
        if let failure = result.content.fault {
            return ended(.failed(failure))
        }
        snapshot.content = result.content
        switch ending {
        case .finished(.applied): return ended(.applied, hasFailed: false)
        case .finished(.skipped): return ended(.skipped(reason: Reason.nothingToDo), hasFailed: false)
        case .finished(.failed(let failure)): return ended(.failed(failure))
        case .timedOut:
            return ended(.timedOut(reason: timed.deadline < input.deadline ? Reason.budget : Reason.deadline))
        case .cancelled:
            return ended(.timedOut(reason: Reason.cancelled))
        }
    }

    /// The reason codes of the stage itself.
    enum Reason {
        static let budget = "budget"
        static let deadline = "deadline"
        static let cancelled = "cancelled"
        /// The policy of an earlier step ended the chain.
        static let ended = "ended"
        static let nothingToDo = "nothing-to-do"
        static let noAlertText = "no-alert-text"
        /// Fetched, but the delivered content does not refer to it.
        static let discarded = "discarded"
    }
}

extension NotificationContent {
    /// Why it is not valid as the content of a request; nil if it is.
    fileprivate var fault: EnrichmentFailure? {
        let json = json
        guard json.count <= ModelLimits.requestBytes else {
            return EnrichmentFailure(.tooLarge, "the changed content has \(json.count) bytes")
        }
        do throws(ModelError) {
            _ = try NotificationContent(json: json)
            return nil
        } catch {
            let field = PrintableText.escaped(error.field ?? "content")
            return EnrichmentFailure(error.reason, "the changed content is invalid at `\(field)`")
        }
    }
}

extension AttachmentReport {
    /// The report, corrected if the delivered content does not have the fetched medium.
    fileprivate func whenDelivered(_ attachments: [NotificationAttachment]) -> AttachmentReport {
        guard case .attached(let medium) = outcome else { return self }
        let isThere = attachments.contains {
            $0.identifier.hasSameBytes(as: identifier) && $0.url.hasSameBytes(as: medium.url)
        }
        guard !isThere else { return self }
        return AttachmentReport(identifier: identifier, outcome: .missing(reason: EnrichmentStage.Reason.discarded))
    }
}
