/// Puts an event together from its attributes, whatever carried them.
struct BusinessEventBuilder {
    private var known: [String: String] = [:]
    private var extensions: [String: String] = [:]
    var dataContentType: String?
    var data: [UInt8] = []

    /// Takes an attribute by its CloudEvents name. Throws when it is there twice or has an impossible name.
    mutating func set(_ name: String, _ value: String) throws(ModelError) {
        switch name {
        case "specversion", "id", "source", "type", "subject", "time", "dataschema":
            guard known.updateValue(value, forKey: name) == nil else {
                throw ModelError(.invalid, field: name, "is given twice")
            }
        case "datacontenttype":
            guard dataContentType == nil else { throw ModelError(.invalid, field: name, "is given twice") }
            dataContentType = value
        default:
            try BusinessEvent.checkExtension(name)
            guard extensions.updateValue(value, forKey: name) == nil else {
                throw ModelError(.invalid, field: name, "is given twice")
            }
        }
    }

    /// The event, validated.
    func event() throws(ModelError) -> BusinessEvent {
        guard let version = known["specversion"] else {
            throw ModelError(
                .invalid,
                field: "specversion",
                "is missing: a CloudEvent 1.0 has specversion, id, source and type"
            )
        }
        guard version == "1.0" else {
            throw ModelError(.invalid, field: "specversion", "must be 1.0, found \"\(version.prefix(16))\"")
        }
        func required(_ name: String) throws(ModelError) -> String {
            guard let value = known[name] else { throw ModelError(.invalid, field: name, "is missing") }
            return value
        }
        var time: Timestamp?
        if let text = known["time"] {
            guard let read = Timestamp(rfc3339: text) else {
                throw ModelError(.invalid, field: "time", "must be an RFC 3339 date and time")
            }
            time = read
        }
        let event = BusinessEvent(
            id: try required("id"),
            source: try required("source"),
            type: try required("type"),
            subject: known["subject"],
            time: time,
            dataContentType: dataContentType,
            dataSchema: known["dataschema"],
            data: data,
            extensions: extensions
        )
        try event.validate()
        return event
    }

    /// UTF-8 bytes as text. Throws `not-utf8` with the attribute's name.
    static func text(_ bytes: [UInt8], of name: String) throws(ModelError) -> String {
        guard bytes.withUnsafeBytes({ UTF8Validation.isValid($0) }) else {
            throw ModelError(.notUTF8, field: name, "is not UTF-8")
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
