import ArgumentParser
import NotificationModel
import ServiceSupport

/// Selects dead letters.
struct DeadLetterFilter: Hashable, Sendable {
    /// Reason codes; empty for all.
    var reasons: Set<String> = []
    /// Full names of the topics that they came from; empty for all.
    var topics: Set<String> = []
    /// When they became dead letters: from an instant on, and before one.
    var since: Timestamp?
    var until: Timestamp?
    /// Positions; empty for all.
    var places: Set<RecordPlace> = []

    func takes(_ letter: StoredDeadLetter) -> Bool {
        guard places.isEmpty || places.contains(letter.place) else { return false }
        guard reasons.isEmpty || reasons.contains(letter.note.reason) else { return false }
        guard topics.isEmpty || letter.note.topic.map(topics.contains) == true else { return false }
        guard let timestamp = letter.timestamp else { return since == nil && until == nil }
        return (since.map { timestamp >= $0.rawValue } ?? true) && (until.map { timestamp < $0.rawValue } ?? true)
    }
}

/// The options that select dead letters.
struct DeadLetterFilterOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Only those with this reason, such as no-rule; repeatable.", valueName: "code"),
        completion: .list(ReasonCode.allCases.map(\.rawValue))
    )
    var reason: [String] = []

    @Option(
        help: ArgumentHelp("Only records of this topic, by its short or full name; repeatable.", valueName: "topic"),
        completion: .list(TopicNames().all.map(\.name))
    )
    var topic: [String] = []

    @Option(
        help: ArgumentHelp(
            "Only what became a dead letter from then on: RFC 3339, or how long ago, such as 15m.",
            valueName: "instant"
        )
    )
    var since: MomentArgument?

    @Option(help: ArgumentHelp("Only what became a dead letter before then.", valueName: "instant"))
    var until: MomentArgument?

    func validate() throws {
        guard !Validation.isLater else { return }
        for code in reason where ReasonCode(rawValue: code) == nil {
            let near = Spelling.nearest(to: code, among: ReasonCode.allCases.map(\.rawValue))
            throw ValidationError("--reason: '\(code)' is no reason\(near.map { "; did you mean '\($0)'?" } ?? "")")
        }
    }

    /// Whether any of them is given.
    var isGiven: Bool { !reason.isEmpty || !topic.isEmpty || since != nil || until != nil }

    /// - Parameter now: The base of spans.
    func filter(_ names: TopicNames, at now: Timestamp) -> DeadLetterFilter {
        DeadLetterFilter(
            reasons: Set(reason),
            topics: Set(topic.map { given in names.all.first { $0.name == given }?.topic ?? given }),
            since: since?.before(now),
            until: until?.before(now)
        )
    }
}

extension DeadLetterFilter {
    /// What reads the dead letters that may be among the selected ones.
    func reader(_ connection: Connection) -> TopicReader {
        var start = TopicReader.Start.beginning
        if !places.isEmpty {
            start = .places(places)
        } else if let since {
            start = .since(since)
        }
        return TopicReader(connection: connection, topic: connection.topics.deadLetters, start: start, follows: false)
    }
}
