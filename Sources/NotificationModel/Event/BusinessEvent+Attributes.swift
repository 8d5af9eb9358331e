/// The attributes of a CloudEvent that are not extensions.
enum EventAttribute: UInt8 {
    case specversion, id, source, type, subject, time, datacontenttype, dataschema

    @inline(__always)
    static func named(_ name: FieldName) -> EventAttribute? {
        switch name {
        case "specversion": .specversion
        case "id": .id
        case "source": .source
        case "type": .type
        case "subject": .subject
        case "time": .time
        case "datacontenttype": .datacontenttype
        case "dataschema": .dataschema
        default: nil
        }
    }
}

/// Builds an event from its attributes, for every binding.
struct BusinessEventBuilder {
    private var specversion: String?
    private var id: String?
    private var source: String?
    private var type: String?
    private var subject: String?
    private var time: String?
    private var dataSchema: String?
    private var extensions: [String: String] = [:]
    var dataContentType: String?
    var data: [UInt8] = []
    /// Whether the attributes come from headers.
    var isBinary = false

    /// Sets an attribute by its CloudEvents name. Throws when it repeats or has an invalid name.
    mutating func set(_ name: String, _ value: String) throws(ModelError) {
        let attribute = Array(name.utf8).withUnsafeBytes { EventAttribute.named(FieldName(bytes: $0)) }
        if let attribute {
            try set(attribute, value)
        } else {
            try setExtension(name, value)
        }
    }

    /// Sets an attribute. Throws when it repeats.
    mutating func set(_ attribute: EventAttribute, _ value: String) throws(ModelError) {
        switch attribute {
        case .specversion: try Self.put(value, into: &specversion, "specversion")
        case .id: try Self.put(value, into: &id, "id")
        case .source: try Self.put(value, into: &source, "source")
        case .type: try Self.put(value, into: &type, "type")
        case .subject: try Self.put(value, into: &subject, "subject")
        case .time: try Self.put(value, into: &time, "time")
        case .datacontenttype: try Self.put(value, into: &dataContentType, "datacontenttype")
        case .dataschema: try Self.put(value, into: &dataSchema, "dataschema")
        }
    }

    /// Sets an extension. Throws when it repeats or has an invalid name.
    mutating func setExtension(_ name: String, _ value: String) throws(ModelError) {
        try BusinessEvent.checkExtension(name)
        guard extensions.updateValue(value, forKey: name) == nil else {
            throw ModelError(.invalid, field: name, "appears twice")
        }
    }

    private static func put(_ value: String, into field: inout String?, _ name: String) throws(ModelError) {
        guard field == nil else { throw ModelError(.invalid, field: name, "appears twice") }
        field = value
    }

    /// Without any attribute in headers the event is probably in the body, with the content type of other JSON.
    private var missingVersion: ModelError {
        let hasNone = id == nil && source == nil && type == nil
        guard isBinary, hasNone, data.first(where: { $0 > 0x20 }).map({ [0x7B, 0x5B].contains($0) }) == true else {
            return ModelError(
                .invalid,
                field: "specversion",
                "is missing: CloudEvents 1.0 requires specversion, id, source and type"
            )
        }
        return ModelError(
            .invalid,
            field: "specversion",
            """
            is missing: with the content-type \(dataContentType.map { "\"\($0.prefix(64))\"" } ?? "(none)") the attributes are \
            headers; an event that is the whole JSON body has the content-type application/cloudevents+json
            """
        )
    }

    /// The event, validated.
    func event() throws(ModelError) -> BusinessEvent {
        guard let specversion else { throw missingVersion }
        guard specversion == "1.0" else {
            throw ModelError(.invalid, field: "specversion", "must be 1.0, found \"\(specversion.prefix(16))\"")
        }
        func required(_ value: String?, _ name: String) throws(ModelError) -> String {
            guard let value else { throw ModelError(.invalid, field: name, "is missing") }
            return value
        }
        var instant: Timestamp?
        if let time {
            guard let read = Timestamp(rfc3339: time) else {
                throw ModelError(.invalid, field: "time", "must be an RFC 3339 date and time")
            }
            instant = read
        }
        let event = BusinessEvent(
            id: try required(id, "id"),
            source: try required(source, "source"),
            type: try required(type, "type"),
            subject: subject,
            time: instant,
            dataContentType: dataContentType,
            dataSchema: dataSchema,
            data: data,
            extensions: extensions
        )
        try event.validate()
        return event
    }
}
