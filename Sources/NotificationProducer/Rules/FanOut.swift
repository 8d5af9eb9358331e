import NotificationModel

/// Applies one rule to each recipient of a list.
struct FanOut {
    /// Default maximum number of recipients of one event.
    static let defaultLimit = 1_000
    /// The largest maximum that a rule may set.
    static let maximumLimit = 10_000

    let engine: RuleEngine
    let plan: EventPlan
    let rule: Rule<BoundVariable>
    let id: Template<BoundVariable>
    let limit: Int

    /// Adds a record for each recipient. Adds nothing if the list is too long, or the records exceed the remaining
    /// bytes. Of entries with the same key only the first counts.
    ///
    /// - Returns: The error about individual recipients, if any; the others have their records.
    /// - Throws: The error about the list.
    func apply(
        to list: BoundVariable,
        _ context: RuleContext,
        _ outputs: inout [RuleEngine.Output],
        _ room: inout Int
    ) throws(ModelError) -> ModelError? {
        let (match, bytes) = try found(list, context)
        try checkLength(of: match, in: bytes)
        var result: Result<(outputs: [RuleEngine.Output], error: ModelError?), ModelError> = .success(([], nil))
        withUnsafeTemporaryAllocation(of: JSONMatch.self, capacity: max(1, plan.item.count)) { matches in
            do throws(ModelError) {
                result = .success(try records(for: match, in: bytes, context, matches, room))
            } catch {
                result = .failure(error)
            }
        }
        let (made, error) = try result.get()
        room -= made.reduce(0) { $0 + $1.value.count }
        outputs += made
        return error
    }

    private func found(_ list: BoundVariable, _ context: RuleContext) throws(ModelError)
        -> (JSONMatch, UnsafeRawBufferPointer)
    {
        let value = context.value(of: list)
        guard case .json(let match, let bytes) = value, match.kind != .null else {
            if case .text = value { throw noList(list, context) }
            throw context.missing(list)
        }
        guard match.kind == .array else { throw noList(list, context) }
        return (match, bytes)
    }

    private func noList(_ list: BoundVariable, _ context: RuleContext) -> ModelError {
        ModelError(.invalid, field: "recipients", "{{\(context.name(of: list))}} is not a list")
    }

    private func checkLength(of list: JSONMatch, in bytes: UnsafeRawBufferPointer) throws(ModelError) {
        var elements = JSONElements(of: list, in: bytes)
        for _ in 0..<limit where elements.next() == nil { return }
        guard elements.next() == nil else {
            throw ModelError(
                .tooManyRecipients,
                field: "recipients",
                "the list has more than \(limit) recipients, the rule's limit"
            )
        }
    }

    private func records(
        for list: JSONMatch,
        in bytes: UnsafeRawBufferPointer,
        _ context: RuleContext,
        _ matches: UnsafeMutableBufferPointer<JSONMatch>,
        _ room: Int
    ) throws(ModelError) -> ([RuleEngine.Output], ModelError?) {
        var elements = JSONElements(of: list, in: bytes)
        var context = context
        var outputs: [RuleEngine.Output] = []
        var keys: Set<NotificationKey> = []
        var firstError: (index: Int, error: ModelError)?
        var errors = 0
        var index = 0
        var size = 0
        while let range = elements.next() {
            let element = UnsafeRawBufferPointer(rebasing: bytes[range])
            do throws(ModelError) {
                try plan.item.find(in: element, into: matches)
                context.item = FoundValues(bytes: element, matches: UnsafeBufferPointer(matches))
                let output = try engine.output(of: rule, id, context)
                if keys.insert(output.key).inserted {
                    size += output.value.count
                    outputs.append(output)
                }
            } catch {
                errors += 1
                firstError = firstError ?? (index, error)
            }
            guard size <= room else { throw RuleEngine.tooLarge }
            index += 1
        }
        return (outputs, firstError.map { describe($0.error, at: $0.index, of: errors) })
    }

    private func describe(_ error: ModelError, at index: Int, of errors: Int) -> ModelError {
        let more = errors > 1 ? " (and \(errors - 1) more in the list)" : ""
        return ModelError(error.reason, field: error.field, "recipient \(index) in the list: \(error.detail)\(more)")
    }
}
