import NotificationModel

extension EnrichmentChain {
    /// Reads a chain from its text form: steps separated by `;`, each a name and its options; `none` is an empty chain.
    ///
    ///     attachments; template:greeting budget=2s on-failure=original
    ///
    /// `budget` is a whole number with `ms` or `s`, within ``budgets``; `on-failure` a ``FailurePolicy``.
    ///
    /// - Throws: Which step is wrong, counted from 1, and how to write it.
    package init(text: String) throws(EnrichmentChainError) {
        let parts = text.split(separator: ";", omittingEmptySubsequences: false).map { $0.split(separator: " ") }
        if parts == [["none"]] {
            self.init([])
            return
        }
        guard parts.count <= Self.maximumSteps else {
            throw EnrichmentChainError("has \(parts.count) steps; at most \(Self.maximumSteps) are allowed")
        }
        var steps: [Step] = []
        for (index, words) in parts.enumerated() {
            do throws(EnrichmentChainError) {
                steps.append(try Self.step(words))
            } catch {
                throw EnrichmentChainError("step \(index + 1): \(error.message)")
            }
        }
        self.init(steps)
    }

    private static func step(_ words: [Substring]) throws(EnrichmentChainError) -> Step {
        guard let name = words.first else {
            throw EnrichmentChainError("has no enricher; write its name, such as \(AttachmentsEnricher.standardName)")
        }
        guard isName(name) else {
            throw EnrichmentChainError(
                "`\(excerpt(name))` is not the name of an enricher: 1 to 64 lower-case letters, digits, `:`, `-`, `_`"
            )
        }
        var budget: Duration?
        var onFailure: FailurePolicy?
        for option in words.dropFirst() {
            let parts = option.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            switch (parts[0], parts.count) {
            case ("budget", 2) where budget == nil:
                budget = try duration(parts[1])
            case ("on-failure", 2) where onFailure == nil:
                guard let policy = FailurePolicy(rawValue: String(parts[1])) else {
                    let policies = FailurePolicy.allCases.map(\.rawValue).joined(separator: ", ")
                    throw EnrichmentChainError("on-failure=`\(excerpt(parts[1]))` is not one of \(policies)")
                }
                onFailure = policy
            case ("budget", 2), ("on-failure", 2):
                throw EnrichmentChainError("\(parts[0]) appears twice")
            default:
                throw EnrichmentChainError(
                    "`\(excerpt(option))` is not an option; write budget=2s or on-failure=original, "
                        + "and a `;` between enrichers"
                )
            }
        }
        return Step(String(name), budget: budget, onFailure: onFailure ?? .bestAttempt)
    }

    private static func duration(_ text: Substring) throws(EnrichmentChainError) -> Duration {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let isShort = (1...6).contains(digits.utf8.count)
        let duration: Duration? =
            switch (isShort ? Int64(digits) : nil, text.dropFirst(digits.count)) {
            case (let number?, "ms"): .milliseconds(number)
            case (let number?, "s"): .seconds(number)
            default: nil
            }
        guard let duration, budgets.contains(duration) else {
            throw EnrichmentChainError("budget=`\(excerpt(text))` is not a time from 1ms to 60s, such as 500ms or 2s")
        }
        return duration
    }

    private static func excerpt(_ text: Substring) -> String { PrintableText.escaped(String(text.prefix(60))) }
}
