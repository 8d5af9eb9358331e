package import ServiceSupport

/// What happens to business events of a type without a rule.
public enum UnmatchedEvents: String, CaseIterable, Sendable {
    /// They go to the dead letters, as `no-rule`.
    case deadLetter = "dead-letter"
    /// They have no effect, and are counted.
    case ignore

    /// Reads `rules.unmatched`, as the command line does, too. Problems are recorded in `settings`.
    package init(settings: inout ServiceSettings) {
        self = settings.oneOf(
            "rules.unmatched",
            default: Self.deadLetter,
            about: """
                What happens to business events of a type that has no rule, and that `ignore:` of the rule file does not name: \
                `dead-letter`, as `no-rule`, or `ignore`.
                """
        )
    }
}
