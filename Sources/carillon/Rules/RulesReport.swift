import NotificationModel
import NotificationProducer

/// The report of `carillon rules check`, for people and for programs.
struct RulesReport {
    let file: String

    /// The result for an event, and the earlier events that could take effect after it.
    struct Checked {
        /// The event's file, if there are several events.
        let name: String?
        let result: RulePreview.Result
        let warnings: [String]

        /// - Parameter earlier: The events sent before it.
        init(name: String?, result: RulePreview.Result, earlier: [Checked]) {
            (self.name, self.result) = (name, result)
            warnings = earlier.compactMap { Self.warning($0, name, result) }
        }

        /// A warning when one event cancels what the other requests, and their keys differ.
        private static func warning(_ earlier: Checked, _ name: String?, _ later: RulePreview.Result) -> String? {
            guard let first = earlier.result.eventKey, let second = later.eventKey, first != second else { return nil }
            let shared = earlier.result.records.first { record in
                later.records.contains { $0.key == record.key && $0.isRemoval != record.isRemoval }
            }
            guard let shared else { return nil }
            let keys = [first, second].map { RecordText.safe(String(decoding: $0, as: UTF8.self)) }
            return
                "\(RecordText.safe(name ?? "")) can overtake \(RecordText.safe(earlier.name ?? "")) on \(shared.key): their keys "
                + "'\(keys[1])' and '\(keys[0])' differ (partitionkey, else subject, else source)"
        }
    }

    // MARK: For people

    func text(of rules: [RulePreview.Summary], _ notes: [Overtaking], _ warnings: [RuleFileError.Problem]) -> String {
        let events = Set(rules.map(\.event)).count
        var text =
            "\(RecordText.safe(file)): \(Self.count(rules.count, "rule")) for \(Self.count(events, "type")) of events\n"
        for rule in rules {
            text += "  line \(rule.line): \(RecordText.safe(rule.event)) "
            text += "\(rule.isCancel ? "cancels" : "requests"), as \(RecordText.safe(rule.name))\n"
        }
        for note in notes { text += "note: \(RecordText.safe(note.description))\n" }
        return text + self.text(of: warnings)
    }

    func text(of warnings: [RuleFileError.Problem]) -> String {
        warnings.map { "warning: \(RecordText.safe(file)):\($0)\n" }.joined()
    }

    func text(of checked: Checked) -> String {
        let result = checked.result
        var text = checked.name.map { "\(RecordText.safe($0)):\n" } ?? ""
        if result.isIgnored { text += "ignored: no rule matches this type, and it is to be ignored\n" }
        if result.isSkipped { text += "skipped: rules match this type, but give no record for this event\n" }
        for record in result.records {
            text += "\(record.isRemoval ? "removal" : "request") \(record.key), id \(record.requestID)\n"
            text += "\(Self.pretty(record.value))\n"
            if !record.notConverted.isEmpty {
                text += "not converted: \(record.notConverted.map(RecordText.safe).joined(separator: ", "))\n"
            }
        }
        for failure in result.failures {
            let rule = failure.rule.map { " in rule \(RecordText.safe($0))" } ?? ""
            text += "dead letter\(rule): \(RecordText.safe(failure.error.description))\n"
        }
        for warning in checked.warnings { text += "warning: \(warning)\n" }
        return text
    }

    private static func count(_ number: Int, _ noun: String) -> String {
        "\(number) \(noun)\(number == 1 ? "" : "s")"
    }

    private static func pretty(_ json: [UInt8]) -> String {
        guard let value = try? JSONValue.parse(json) else { return String(decoding: json, as: UTF8.self) }
        return String(decoding: PrintableText.escaped(json: Array(value.indented().utf8)), as: UTF8.self)
    }

    // MARK: For programs

    func json(of error: RuleFileError) -> [UInt8] {
        line([.init("file", .string(file)), .init("problems", Self.json(error.problems))])
    }

    private static func json(_ problems: [RuleFileError.Problem]) -> JSONValue {
        .array(
            problems.map { problem in
                .object([
                    .init("line", place(problem.line)), .init("column", place(problem.column)),
                    .init("message", .string(problem.message)),
                ])
            }
        )
    }

    func json(of rules: [RulePreview.Summary], _ notes: [Overtaking], _ warnings: [RuleFileError.Problem]) -> [UInt8] {
        let list = rules.map { rule in
            JSONValue.object([
                .init("name", .string(rule.name)), .init("event", .string(rule.event)),
                .init("line", .number("\(rule.line)")),
                .init("action", .string(rule.isCancel ? "cancel" : "request")),
            ])
        }
        return line([
            .init("file", .string(file)), .init("problems", .array([])), .init("rules", .array(list)),
            .init("notes", .array(notes.map { .string($0.description) })), .init("warnings", Self.json(warnings)),
        ])
    }

    func json(of checked: Checked) -> [UInt8] {
        let result = checked.result
        let records = result.records.map { record in
            var members: [JSONValue.Member] = [
                .init("kind", .string(record.isRemoval ? "removal" : "request")),
                .init("key", .string(record.key.description)),
                .init("requestId", .string(record.requestID.description)),
                .init("value", (try? JSONValue.parse(record.value)) ?? .null),
            ]
            if !record.notConverted.isEmpty {
                members.append(.init("notConverted", .array(record.notConverted.map { .string($0) })))
            }
            return JSONValue.object(members)
        }
        let failures = result.failures.map { failure in
            JSONValue.object([
                .init("rule", failure.rule.map { .string($0) } ?? .null),
                .init("reason", .string(failure.error.reason.rawValue)),
                .init("field", failure.error.field.map { .string($0) } ?? .null),
                .init("detail", .string(failure.error.detail)),
            ])
        }
        let outcome =
            !failures.isEmpty
            ? "dead-lettered" : result.isIgnored ? "ignored" : records.isEmpty ? "skipped" : "published"
        var members = checked.name.map { [JSONValue.Member("event", .string($0))] } ?? []
        members += [
            .init("outcome", .string(outcome)), .init("records", .array(records)),
            .init("failures", .array(failures)), .init("warnings", .array(checked.warnings.map { .string($0) })),
        ]
        return line(members)
    }

    /// Null for a problem of the whole file.
    private static func place(_ number: Int) -> JSONValue {
        number > 0 ? .number("\(number)") : .null
    }

    private func line(_ members: [JSONValue.Member]) -> [UInt8] {
        JSONValue.object(members).json + [0x0A]
    }
}

extension JSONValue {
    /// The value on several lines, indented by two spaces, with its members in order.
    fileprivate func indented(_ level: Int = 0) -> String {
        let inner = String(repeating: "  ", count: level + 1)
        let end = "\n" + String(repeating: "  ", count: level)
        switch self {
        case .object(let members) where !members.isEmpty:
            let lines = members.map { "\(inner)\(Self.string($0.name).text): \($0.value.indented(level + 1))" }
            return "{\n" + lines.joined(separator: ",\n") + end + "}"
        case .array(let elements) where !elements.isEmpty:
            let lines = elements.map { inner + $0.indented(level + 1) }
            return "[\n" + lines.joined(separator: ",\n") + end + "]"
        default:
            return text
        }
    }

    private var text: String { String(decoding: json, as: UTF8.self) }
}
