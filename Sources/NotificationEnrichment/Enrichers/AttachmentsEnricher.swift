import NotificationModel

/// Fetches the attachments of the content, several at a time. The content then refers to the stored media, and is
/// without the attachments that failed: the person gets the notification anyway.
///
/// It fails when one attachment or more are missing, with the code of the first of them. While it runs, each attachment
/// that is done updates the draft; those in progress count as missing.
package struct AttachmentsEnricher: Enricher {
    package static let standardName = "attachments"

    package let name: String
    private let fetching: any AttachmentFetching
    private let concurrency: Int

    /// An enricher for attachments.
    ///
    /// - Parameters:
    ///   - name: How chains name it.
    ///   - fetching: Gets the media.
    ///   - concurrency: How many attachments of one notification are fetched at a time, at least 1.
    package init(name: String = standardName, fetching: any AttachmentFetching, concurrency: Int = 4) {
        (self.name, self.fetching, self.concurrency) = (name, fetching, max(1, concurrency))
    }

    package func enrich(_ draft: EnrichmentDraft, for input: EnrichmentInput) async -> EnricherOutcome {
        let before = draft.current
        var progress = AttachmentProgress(before)
        guard !progress.isEmpty else { return .skipped }
        draft.update { [progress] in $0.attachments = progress.reports(after: before.attachments) }

        await withTaskGroup(of: (Int, Result<FetchedAttachment, EnrichmentFailure>).self) { group in
            var waiting = progress.pending[...]
            func start() {
                guard !Task.isCancelled, let next = waiting.popFirst() else { return }
                let (fetching, attachment) = (fetching, progress.attachments[next])
                group.addTask {
                    let result = await fetching.fetch(
                        url: attachment.url,
                        for: input.application,
                        typeHint: attachment.options?.typeHint,
                        neededUntil: input.neededUntil,
                        deadline: input.deadline
                    )
                    return (next, result)
                }
            }
            for _ in 0..<min(concurrency, waiting.count) { start() }
            while let (index, result) = await group.next() {
                progress.note(result, at: index)
                draft.update { [progress] in
                    $0.content.attachments = progress.attached
                    $0.attachments = progress.reports(after: before.attachments)
                }
                start()
            }
        }
        return progress.failure.map { .failed($0) } ?? .applied
    }
}

/// The attachments of one content while they are fetched.
private struct AttachmentProgress {
    /// As declared, each with an identifier.
    let attachments: [NotificationAttachment]
    /// By the index of the attachment; nil while it is not known.
    private var results: [Result<FetchedAttachment, EnrichmentFailure>?]

    /// What an earlier run of this chain has fetched is done already.
    init(_ snapshot: EnrichmentDraft.Snapshot) {
        attachments = Self.identified(snapshot.content.attachments ?? [])
        results = attachments.map { attachment in
            for report in snapshot.attachments where report.identifier.hasSameBytes(as: attachment.identifier) {
                if case .attached(let medium) = report.outcome, medium.url.hasSameBytes(as: attachment.url) {
                    return .success(medium)
                }
            }
            return nil
        }
    }

    var isEmpty: Bool { attachments.isEmpty }

    var pending: [Int] { results.indices.filter { results[$0] == nil } }

    mutating func note(_ result: Result<FetchedAttachment, EnrichmentFailure>, at index: Int) {
        results[index] = result
    }

    /// The attachments that are there, with the URLs of the store; nil for none.
    var attached: [NotificationAttachment]? {
        let attached = zip(attachments, results).compactMap { attachment, result -> NotificationAttachment? in
            guard case .success(let medium)? = result else { return nil }
            return NotificationAttachment(
                identifier: attachment.identifier,
                url: medium.url,
                options: attachment.options
            )
        }
        return attached.isEmpty ? nil : attached
    }

    /// One report for each attachment, after those of earlier runs about other attachments.
    func reports(after earlier: [AttachmentReport]) -> [AttachmentReport] {
        let others = earlier.filter { report in
            !attachments.contains { $0.identifier.hasSameBytes(as: report.identifier) }
        }
        let own = zip(attachments, results).map { attachment, result in
            let outcome: AttachmentReport.Outcome =
                switch result {
                case .success(let medium)?: .attached(medium)
                case .failure(let failure)?: .missing(reason: failure.code)
                case nil: .missing(reason: "timed-out")
                }
            return AttachmentReport(identifier: attachment.identifier, outcome: outcome)
        }
        return Array(own.prefix(EnrichmentReport.maximumAttachments))
            + others.prefix(max(0, EnrichmentReport.maximumAttachments - own.count))
    }

    /// Why the first missing attachment is missing; nil when all are there.
    var failure: EnrichmentFailure? {
        for (attachment, result) in zip(attachments, results) {
            let failure: EnrichmentFailure
            switch result {
            case .success?: continue
            case .failure(let error)?: failure = error
            case nil: failure = EnrichmentFailure(code: "timed-out", detail: "not begun")
            }
            let identifier = PrintableText.escaped(attachment.identifier)
            return EnrichmentFailure(code: failure.code, detail: "attachment `\(identifier)`: \(failure.detail)")
        }
        return nil
    }

    /// Gives attachments without an identifier the same one every time, unique within the content.
    private static func identified(_ attachments: [NotificationAttachment]) -> [NotificationAttachment] {
        var taken = Set(attachments.map(\.identifier))
        return attachments.enumerated().map { index, attachment in
            guard attachment.identifier.isEmpty else { return attachment }
            var attachment = attachment
            attachment.identifier = "attachment-\(index + 1)"
            while !taken.insert(attachment.identifier).inserted { attachment.identifier += "-" }
            return attachment
        }
    }
}
