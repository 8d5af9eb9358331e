import NotificationModel
import ServiceSupport

/// Applies the rules to one event: a pure function.
package struct RuleEngine: Sendable {
    /// A record for `requests`.
    struct Output: Sendable {
        var key: NotificationKey
        var requestID: RequestID
        var isRemoval: Bool
        /// The complete JSON value, validated by the model.
        var value: [UInt8]
        /// What of a payload of APNs no content says.
        var notConverted: [String] = []
    }

    enum Outcome: Sendable {
        /// No rule matches this event type: a dead letter.
        case noRule
        /// No rule matches this event type, which has no effect by the file or the setting.
        case ignored
        /// Rules match the type but give no record: no `when` holds, or the lists of recipients are empty.
        case skipped
        /// The records and failures of the rules. Both can be present: a failure of one rule does not suppress
        /// another's notification.
        case applied([Output], failures: [Failure])
    }

    struct Failure: Sendable {
        var rule: String
        var error: ModelError
    }

    /// The maximum total size of the records of one event: a list of recipients multiplies the event's data.
    static let maximumBytes = 32 << 20

    let rules: RuleSet
    /// The application of rules without one.
    let defaultApplication: String
    /// What happens to events that neither rules nor `ignore:` are for.
    let unmatched: UnmatchedEvents

    init(rules: RuleSet, defaultApplication: String, unmatched: UnmatchedEvents = .deadLetter) {
        (self.rules, self.defaultApplication, self.unmatched) = (rules, defaultApplication, unmatched)
    }

    /// An engine for the text of a rule file.
    package init(yaml text: String, defaultApplication: String) throws(RuleFileError) {
        self.init(rules: try RuleFile.parse(text, file: "rules"), defaultApplication: defaultApplication)
    }

    /// The topics with events that the rules may be for.
    var inputs: [IngestInput] {
        rules.plan(for: Self.responseType) == nil ? [.businessEvents] : [.businessEvents, .responses]
    }

    /// The type of the events on `responses`.
    static let responseType = "carillon.notification.response.v1"

    /// - Parameters:
    ///   - arrived: The base of an expiration when the event has no time: the record's timestamp, so that the same record
    ///     always gives the same request.
    ///   - room: The maximum total size of the records.
    ///   - noteMatch: Called with each rule whose `when` holds.
    func apply(
        to event: BusinessEvent,
        arrived: Timestamp,
        within room: Int = maximumBytes,
        noteMatch: (Rule<BoundVariable>) -> Void = { _ in }
    ) -> Outcome {
        guard let plan = rules.plan(for: event.type) else {
            return unmatched == .ignore || rules.ignores(event.type) ? .ignored : .noRule
        }
        return withValues(of: event, for: plan) { values in
            switch values {
            case .success(let data): apply(plan, to: event, arrived, data, within: room, noteMatch)
            case .failure(let error): .applied([], failures: [Failure(rule: plan.rules[0].name, error: error)])
            }
        }
    }

    static func noRule(for event: BusinessEvent) -> ModelError {
        ModelError(.noRule, field: "type", "no rule matches events of type \(event.type)")
    }

    /// Finds all values that the rules use, in one pass over the data; they are valid inside the body.
    private func withValues<Result>(
        of event: BusinessEvent,
        for plan: EventPlan,
        _ body: (Swift.Result<FoundValues, ModelError>) -> Result
    ) -> Result {
        guard plan.data.count > 0, !event.data.isEmpty, event.isJSON else { return body(.success(.none)) }
        return withUnsafeTemporaryAllocation(of: JSONMatch.self, capacity: plan.data.count) { matches in
            event.data.withUnsafeBytes { bytes in
                do throws(ModelError) {
                    try plan.data.find(in: bytes, into: matches)
                } catch {
                    let field = error.field.map { "data.\($0)" } ?? "data"
                    return body(.failure(ModelError(error.reason, field: field, error.detail)))
                }
                return body(.success(FoundValues(bytes: bytes, matches: UnsafeBufferPointer(matches))))
            }
        }
    }

    private func apply(
        _ plan: EventPlan,
        to event: BusinessEvent,
        _ arrived: Timestamp,
        _ data: FoundValues,
        within most: Int,
        _ noteMatch: (Rule<BoundVariable>) -> Void
    ) -> Outcome {
        let context = RuleContext(event: event, arrived: arrived, names: plan.names, data: data)
        var outputs: [Output] = []
        var failures: [Failure] = []
        var room = most
        for rule in plan.rules {
            do throws(ModelError) {
                if let condition = rule.when, try !context.holds(condition) { continue }
                noteMatch(rule)
                switch rule.recipients {
                case .one(let recipient):
                    let output = try output(of: rule, recipient, context)
                    guard output.value.count <= room else { throw Self.tooLarge }
                    room -= output.value.count
                    outputs.append(output)
                case .each(let list, let id, let limit):
                    let fanOut = FanOut(engine: self, plan: plan, rule: rule, id: id, limit: limit)
                    if let error = try fanOut.apply(to: list, context, &outputs, &room) {
                        failures.append(Failure(rule: rule.name, error: error))
                    }
                }
            } catch {
                failures.append(Failure(rule: rule.name, error: error))
            }
        }
        return outputs.isEmpty && failures.isEmpty ? .skipped : .applied(outputs, failures: failures)
    }

    static let tooLarge = ModelError(.tooLarge, "the records of one event may have at most \(maximumBytes) bytes")

    // MARK: One record

    func output(of rule: Rule<BoundVariable>, _ recipient: Template<BoundVariable>, _ context: RuleContext)
        throws(ModelError) -> Output
    {
        let key = try key(of: rule, recipient, context)
        let id = RequestID.derive(source: context.event.source, id: context.event.id, rule: rule.name, key: key)
        var value: [UInt8] = []
        switch rule.action {
        case .notify(let notification):
            value.reserveCapacity(512)
            var request = RequestWriter(id, key, to: &value)
            try append(notification, context, &request, to: &value)
            if let version = try version(of: rule, context, scratch: &value) {
                request.begin(.version, &value)
                JSONWriter.append(number: version, to: &value)
            }
            request.end(&value)
            let received = try RequestRecord.receive(&value, key: key)
            guard case .request = received.record else {
                throw ModelError(.invalid, "the rule did not produce a request")
            }
            return Output(
                key: key,
                requestID: id,
                isRemoval: false,
                value: value,
                notConverted: received.notConverted
            )
        case .cancel(let scope):
            let version = try version(of: rule, context, scratch: &value)
            let removal = NotificationRemoval(requestID: id, key: key, version: version, scope: scope)
            return Output(key: key, requestID: id, isRemoval: true, value: removal.recordValue)
        }
    }

    private func key(of rule: Rule<BoundVariable>, _ recipient: Template<BoundVariable>, _ context: RuleContext)
        throws(ModelError) -> NotificationKey
    {
        var parts: [UInt8] = []
        parts.reserveCapacity(128)
        try rule.identifier.render(context, into: &parts)
        let identifier = parts.count
        guard identifier > 0 else {
            // An empty identifier would mean all of the recipient's notifications; refuse it.
            throw ModelError(.invalid, field: "identifier", "the rule produced an empty identifier")
        }
        if let application = rule.application {
            try application.render(context, into: &parts)
        } else {
            parts.append(contentsOf: defaultApplication.utf8)
        }
        let application = parts.count
        try recipient.render(context, into: &parts)
        return try NotificationKey(
            application: parts[identifier..<application],
            recipient: parts[application...],
            identifier: parts[..<identifier]
        )
    }

    private func append(
        _ notification: Rule<BoundVariable>.Notification,
        _ context: RuleContext,
        _ request: inout RequestWriter,
        to value: inout [UInt8]
    ) throws(ModelError) {
        var body = 0
        if let locales = notification.locales {
            body = locales.body(
                for: try notification.locale.flatMap { template throws(ModelError) in try locale(template, context) }
            )
        }
        try notification.bodies[body].render(context, into: &value)
        guard let after = notification.expiresAfter else { return }
        let time = context.event.time ?? context.arrived
        request.begin(.expiration, &value)
        JSONWriter.append(timestamp: time.adding(milliseconds: try milliseconds(after, context)), to: &value)
    }

    /// Nil when the event has no locale, which is common.
    private func locale(_ template: Template<BoundVariable>, _ context: RuleContext) throws(ModelError) -> String? {
        do throws(ModelError) {
            return try text(template, context)
        } catch {
            if error.reason == .missingVariable { return nil }
            throw error
        }
    }

    private func milliseconds(_ after: Rule<BoundVariable>.ExpirationAfter, _ context: RuleContext)
        throws(ModelError) -> Int64
    {
        let variable: BoundVariable
        switch after {
        case .milliseconds(let milliseconds): return milliseconds
        case .variable(let named): variable = named
        }
        let value = context.value(of: variable)
        if case .missing = value { throw context.missing(variable) }
        guard case .json(let match, let bytes) = value, match.kind == .number,
            let milliseconds = ExpirationBounds.milliseconds(
                NumberValue(UnsafeRawBufferPointer(rebasing: bytes[match.range])).double
            )
        else {
            throw ModelError(
                .invalid,
                field: "expiration",
                "{{\(context.name(of: variable))}} must be \(ExpirationBounds.text)"
            )
        }
        return milliseconds
    }

    /// Renders the version and reads it: a variable's value must not inject JSON.
    ///
    /// - Parameter scratch: Holds the text meanwhile, so that it needs no memory of its own.
    private func version(
        of rule: Rule<BoundVariable>,
        _ context: RuleContext,
        scratch: inout [UInt8]
    ) throws(ModelError) -> Int64? {
        guard let version = rule.version else { return nil }
        let start = scratch.count
        try version.render(context, into: &scratch)
        let text = String(decoding: scratch[start...], as: UTF8.self)
        scratch.removeLast(scratch.count - start)
        let digits = text.utf8
        guard let first = digits.first, first != UInt8(ascii: "+"), first != UInt8(ascii: "-"),
            first != UInt8(ascii: "0") || digits.count == 1, let number = Int64(text)
        else {
            throw ModelError(.invalid, field: "version", "the rule must produce an integer from 0")
        }
        return number
    }

    private func text(_ template: Template<BoundVariable>, _ context: RuleContext) throws(ModelError) -> String {
        var bytes: [UInt8] = []
        try template.render(context, into: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// The value of `expiration: {after: …}`.
enum ExpirationBounds {
    static let text = "a number of seconds, more than 0 and at most \(Int64(ModelLimits.timeInterval))"

    static func milliseconds(_ seconds: Double) -> Int64? {
        guard seconds > 0, seconds <= ModelLimits.timeInterval else { return nil }
        return max(1, Int64((seconds * 1_000).rounded()))
    }
}
