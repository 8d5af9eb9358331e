import NotificationModel
import ServiceHTTP

/// What the rules made of an event, within the record size limit.
struct EventEffects {
    /// The records that fit.
    var outputs: [RuleEngine.Output]
    /// Why the event also becomes a dead letter: the errors of its rules, with the code of the first; nil if it does not.
    var error: ModelError?

    /// - Parameters:
    ///   - applications: Those that the sender of the event may send to.
    ///   - bound: The record size limit.
    ///   - size: The size of the record for a request.
    init(
        _ outputs: [RuleEngine.Output],
        failures: [RuleEngine.Failure],
        to applications: ApplicationSet = .all,
        within bound: RecordBound,
        size: (RuleEngine.Output) -> Int
    ) {
        let allowed = outputs.filter { applications.contains($0.key.application) }
        self.outputs = allowed
        var errors = failures.map {
            ModelError($0.error.reason, field: $0.error.field, "rule \($0.rule): \($0.error.detail)")
        }
        if allowed.count < outputs.count {
            errors += outputs.map(\.key).filter { !applications.contains($0.application) }.map(EventScope.refusal)
        }
        if !allowed.allSatisfy({ size($0) <= bound.bytes }) {
            errors += allowed.filter { size($0) > bound.bytes }.map { output in
                ModelError(.tooLarge, "the request \(output.key) exceeds the record size limit of \(bound.bytes) bytes")
            }
            self.outputs.removeAll { size($0) > bound.bytes }
        }
        error = errors.first.map { first in
            ModelError(first.reason, field: first.field, errors.map(\.detail).joined(separator: "; "))
        }
    }
}

/// What becomes of a business event.
enum EventOutcome: String, CaseIterable, Sendable {
    case published, skipped, ignored
    case deadLettered = "dead-lettered"
}

/// What the rules in force would make of an event now.
struct EventVerdict {
    /// The names of the rules whose `when` holds.
    var rules: [String] = []
    /// Nil when that is too much to find out while a caller waits.
    var outcome: EventOutcome?
    /// Why it would become a dead letter.
    var error: ModelError?

    /// - Parameters:
    ///   - room: Bytes of records that may be made to find it out; less by what was.
    ///   - effects: What fits of the records.
    init(
        of event: BusinessEvent,
        by engine: RuleEngine,
        at now: Timestamp,
        within room: inout Int,
        effects: ([RuleEngine.Output], [RuleEngine.Failure]) -> EventEffects
    ) {
        var names: [String] = []
        let most = min(max(0, room), RuleEngine.maximumBytes)
        let applied = engine.apply(to: event, arrived: now, within: most) { names.append($0.name) }
        rules = names
        switch applied {
        case .noRule: (outcome, error) = (.deadLettered, RuleEngine.noRule(for: event))
        case .ignored: outcome = .ignored
        case .skipped: outcome = .skipped
        case .applied(let outputs, let failures):
            room -= outputs.reduce(0) { $0 + $1.value.count }
            let isCut = most < RuleEngine.maximumBytes && failures.contains { $0.error == RuleEngine.tooLarge }
            guard !isCut else {
                room = 0
                return
            }
            error = effects(outputs, failures).error
            outcome = error == nil ? .published : .deadLettered
        }
    }
}
