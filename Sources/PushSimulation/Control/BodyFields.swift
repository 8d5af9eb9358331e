package import NotificationModel

/// The members of a JSON object in the body of a call. Unknown ones are refused.
package struct BodyFields {
    private var members: [String: JSONValue] = [:]

    /// - Parameter known: The names that it may have.
    package init(_ json: [UInt8], known: [String]) throws(ModelError) {
        let value = json.isEmpty ? .object([]) : try JSONValue.parse(json)
        guard let members = value.objectValue else { throw ModelError(.invalid, "must be a JSON object") }
        for member in members {
            guard known.contains(member.name) else {
                throw ModelError(
                    .unknownField,
                    field: member.name,
                    "is not known here; known are: \(known.joined(separator: ", "))"
                )
            }
            guard self.members.updateValue(member.value, forKey: member.name) == nil else {
                throw ModelError(.invalid, field: member.name, "appears twice")
            }
        }
    }

    package func text(_ name: String) throws(ModelError) -> String? {
        try read(name, "a text of 1 to 4096 bytes") { value in
            value.stringValue.flatMap { (1...4_096).contains($0.utf8.count) ? $0 : nil }
        }
    }

    package func texts(_ name: String) throws(ModelError) -> [String]? {
        try read(name, "a list of texts") { value in
            guard let list = value.arrayValue else { return nil }
            let texts = list.compactMap(\.stringValue)
            return texts.count == list.count ? texts : nil
        }
    }

    package func bool(_ name: String) throws(ModelError) -> Bool? { try read(name, "true or false") { $0.boolValue } }

    package func integer(_ name: String, in range: ClosedRange<Int>) throws(ModelError) -> Int? {
        try read(name, "a whole number from \(range.lowerBound) to \(range.upperBound)") { value in
            value.integerValue.flatMap(Int.init(exactly:)).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    package func share(_ name: String) throws(ModelError) -> Double? {
        try read(name, "a number from 0 to 1") { value in value.doubleValue.flatMap { (0...1).contains($0) ? $0 : nil }
        }
    }

    /// At most an hour.
    package func seconds(_ name: String) throws(ModelError) -> Duration? {
        try read(name, "seconds from 0 to 3600") { value in
            value.doubleValue.flatMap { (0...3_600).contains($0) ? .seconds($0) : nil }
        }
    }

    package func timestamp(_ name: String) throws(ModelError) -> Timestamp? {
        try read(name, "a time as in 2026-11-21T09:00:00Z") { $0.stringValue.flatMap { Timestamp(rfc3339: $0) } }
    }

    package func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ name: String,
        _ choices: Choice.Type
    ) throws(ModelError) -> Choice? {
        try read(name, Choice.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")) { value in
            value.stringValue.flatMap(Choice.init(rawValue:))
        }
    }

    package func required<Value>(_ value: Value?, _ name: String) throws(ModelError) -> Value {
        guard let value else { throw ModelError(.invalid, field: name, "is missing") }
        return value
    }

    private func read<Value>(
        _ name: String,
        _ expected: String,
        _ body: (JSONValue) -> Value?
    ) throws(ModelError) -> Value? {
        guard let value = members[name] else { return nil }
        guard let read = body(value) else { throw ModelError(.invalid, field: name, "must be \(expected)") }
        return read
    }
}
