/// The fields of one `content:` of a rule file, in order.
struct ContentFields {
    struct Field {
        var name: String
        /// Nil for a field that is taken back with `null`.
        var value: Template<VariablePath>?
    }

    var fields: [Field] = []

    private func contains(_ name: String) -> Bool {
        fields.contains { $0.name == name }
    }

    /// With what the other says in place of one's own, and what it adds.
    func overlaid(by other: ContentFields) -> ContentFields {
        var result = self
        for field in other.fields {
            if let index = result.fields.firstIndex(where: { $0.name == field.name }) {
                result.fields[index] = field
            } else {
                result.fields.append(field)
            }
        }
        return result
    }

    /// With what is only in the other.
    func completed(by other: ContentFields) -> ContentFields {
        ContentFields(fields: fields + other.fields.filter { !contains($0.name) })
    }

    /// The JSON object.
    var json: Template<VariablePath> {
        var json = Template<VariablePath>()
        json.append("{")
        var isFirst = true
        for field in fields {
            guard let value = field.value else { continue }
            // The names are those of the contract, which need no escapes.
            json.append("\(isFirst ? "" : ",")\"\(field.name)\":")
            json.append(value)
            isFirst = false
        }
        json.append("}")
        return json
    }
}
