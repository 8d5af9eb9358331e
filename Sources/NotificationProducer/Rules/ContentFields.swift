import NotificationModel

/// The fields of one `content:` of a rule file, in order.
struct ContentFields {
    struct Field {
        var name: String
        /// Nil for a field that `null` removes.
        var value: Template<VariablePath>?
    }

    var fields: [Field] = []

    /// The field that is a payload of APNs, and alone.
    static let existingPayload = "apns"

    /// The payload of APNs that is the whole content.
    var payload: Template<VariablePath>? { fields.first { $0.name == Self.existingPayload }?.value }

    /// Whether there is a payload of APNs, and another field beside it.
    var isMixed: Bool { payload != nil && fields.count { $0.value != nil } > 1 }

    private func contains(_ name: String) -> Bool {
        fields.contains { $0.name == name }
    }

    /// The fields with those of the other replaced and added.
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

    /// The fields with the additional ones of the other.
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
            // The names are constants of the contract and need no escapes.
            json.append("\(isFirst ? "" : ",")\"\(field.name)\":")
            json.append(value)
            isFirst = false
        }
        json.append("}")
        return json
    }
}
