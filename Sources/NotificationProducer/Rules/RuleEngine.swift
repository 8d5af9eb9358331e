import NotificationModel

/// Applies the rules to one event: a function of its arguments, without I/O.
struct RuleEngine: Sendable {
    /// A record for `requests`.
    struct Output: Sendable {
        var key: NotificationKey
        var requestID: RequestID
        var isRemoval: Bool
        /// The whole JSON value, checked by the model.
        var value: [UInt8]
    }

    enum Outcome: Sendable {
        /// No rule is for this type of event.
        case noRule
        /// Rules are, but the `when` of none of them lets it apply.
        case skipped
        /// What the rules made of it. Failures and outputs can stand beside each other: one rule's mistake does not keep
        /// another's notification back.
        case applied([Output], failures: [Failure])
    }

    struct Failure: Sendable {
        var rule: String
        var error: ModelError
    }

    let rules: RuleSet
    /// For rules that name no application.
    let defaultApplication: String

    func apply(to event: BusinessEvent) -> Outcome {
        guard let candidates = rules.rules(for: event.type) else { return .noRule }
        var data: JSONValue?
        if candidates.contains(where: \.usesData), event.isJSON, !event.data.isEmpty {
            do throws(ModelError) {
                data = try JSONValue.parse(event.data)
            } catch {
                let inData = ModelError(error.reason, field: error.field ?? "data", error.detail)
                return .applied([], failures: [Failure(rule: candidates[0].name, error: inData)])
            }
        }
        let context = RuleContext(event: event, data: data)
        var outputs: [Output] = []
        var failures: [Failure] = []
        for rule in candidates {
            if let condition = rule.when, !context.isTrue(condition) { continue }
            do throws(ModelError) {
                outputs.append(try output(of: rule, context))
            } catch {
                failures.append(Failure(rule: rule.name, error: error))
            }
        }
        return outputs.isEmpty && failures.isEmpty ? .skipped : .applied(outputs, failures: failures)
    }

    private func output(of rule: Rule, _ context: RuleContext) throws(ModelError) -> Output {
        let identifier = try text(rule.identifier, context)
        guard !identifier.isEmpty else {
            // An empty identifier would mean all of the recipient's notifications: never by accident.
            throw ModelError(.invalid, field: "identifier", "the rule gave an empty identifier")
        }
        let key = try NotificationKey(
            application: try rule.application.map { template throws(ModelError) in try text(template, context) }
                ?? defaultApplication,
            recipient: try text(rule.recipient, context),
            identifier: identifier
        )
        let id = RequestID.derive(source: context.event.source, id: context.event.id, rule: rule.name, key: key)
        switch rule.action {
        case .notify(let body):
            var value: [UInt8] = []
            value.reserveCapacity(512)
            JSONWriter.append("{\"requestId\":\"", to: &value)
            id.write(to: &value)
            JSONWriter.append("\",", to: &value)
            key.writeJSONFields(to: &value)
            try body.render(context, into: &value)
            JSONWriter.append("}", to: &value)
            guard case .request(let request) = try RequestRecord.scan(value, key: key) else {
                throw ModelError(.invalid, "the rule did not give a request")
            }
            try SupportedTriggers.check(request.trigger)
            return Output(key: key, requestID: id, isRemoval: false, value: value)
        case .cancel(let scope):
            return Output(
                key: key,
                requestID: id,
                isRemoval: true,
                value: RequestBody.removal(scope: scope, requestID: id)
            )
        }
    }

    private func text(_ template: Template, _ context: RuleContext) throws(ModelError) -> String {
        var bytes: [UInt8] = []
        try template.render(context, into: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}
