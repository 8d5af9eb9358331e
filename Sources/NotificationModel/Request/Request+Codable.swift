// Codable for code off the hot path. It uses the same bytes as everything else, so it validates as strictly. Only the
// JSON initializers keep the order of `userInfo` and the text of its numbers.

extension NotificationContent: Codable {
    /// Reads and validates content. Throws ``ModelError`` for JSON that is not content.
    public init(from decoder: any Decoder) throws {
        try self.init(json: JSONValue(from: decoder).json)
    }

    /// Writes the content's JSON.
    public func encode(to encoder: any Encoder) throws {
        try JSONValue.parse(json).encode(to: encoder)
    }
}

extension NotificationTrigger: Codable {
    /// Reads and validates a trigger. Throws ``ModelError`` for JSON that is not a trigger.
    public init(from decoder: any Decoder) throws {
        try self.init(json: JSONValue(from: decoder).json)
    }

    /// Writes the trigger's JSON.
    public func encode(to encoder: any Encoder) throws {
        try JSONValue.parse(json).encode(to: encoder)
    }
}

extension NotificationKey {
    /// The key from a record's own fields.
    fileprivate init(fieldsOf value: JSONValue) throws(ModelError) {
        func text(_ field: String) throws(ModelError) -> String {
            guard let text = value[field]?.stringValue else {
                throw ModelError(.invalid, field: field, "must be a string")
            }
            return text
        }
        try self.init(
            application: text("application"),
            recipient: text("recipient"),
            identifier: text("identifier")
        )
    }
}

extension NotificationRequest: Codable {
    /// Reads and validates a request with application, recipient and identifier. Throws ``ModelError``.
    public init(from decoder: any Decoder) throws {
        let value = try JSONValue(from: decoder)
        try self.init(json: value.json, key: NotificationKey(fieldsOf: value))
    }

    /// Writes the request's JSON.
    public func encode(to encoder: any Encoder) throws {
        try JSONValue.parse(json).encode(to: encoder)
    }
}

extension NotificationRemoval: Codable {
    /// Reads and validates a removal with application, recipient and identifier. Throws ``ModelError``.
    public init(from decoder: any Decoder) throws {
        let value = try JSONValue(from: decoder)
        try self.init(json: value.json, key: NotificationKey(fieldsOf: value))
    }

    /// Writes the removal's JSON.
    public func encode(to encoder: any Encoder) throws {
        try JSONValue.parse(json).encode(to: encoder)
    }
}
