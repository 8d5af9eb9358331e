/// A CloudEvent 1.0 of the user's systems.
///
/// It can be read from Kafka and HTTP in binary and structured mode, from HTTP also in batches, and is published in
/// binary mode. Errors name the attribute by its CloudEvents name (`id`, `source`, `time`…).
public struct BusinessEvent: Sendable, Hashable {
    /// Unique with ``source``; not empty.
    public var id: String
    /// The producer of the event, a URI reference; not empty.
    public var source: String
    /// The kind of event; not empty.
    public var type: String
    /// The subject of the event.
    public var subject: String?
    /// When the event happened.
    public var time: Timestamp?
    /// Media type of ``data``; nil means JSON.
    public var dataContentType: String?
    /// URI of the schema of ``data``.
    public var dataSchema: String?
    /// The unmodified data; empty when there is none.
    public var data: [UInt8]
    /// Extension attributes; names of lower-case letters and digits. `traceparent` and `tracestate` are among them.
    public var extensions: [String: String]

    /// An event; call ``validate()`` before publishing an external one.
    public init(
        id: String,
        source: String,
        type: String,
        subject: String? = nil,
        time: Timestamp? = nil,
        dataContentType: String? = nil,
        dataSchema: String? = nil,
        data: [UInt8] = [],
        extensions: [String: String] = [:]
    ) {
        self.id = id
        self.source = source
        self.type = type
        self.subject = subject
        self.time = time
        self.dataContentType = dataContentType
        self.dataSchema = dataSchema
        self.data = data
        self.extensions = extensions
    }

    /// True for a type of Carillon's own: `carillon.` and more. Its events are on its own topics; one from elsewhere is not
    /// what it says.
    public var hasReservedType: Bool { type.utf8.starts(with: "carillon.".utf8) }

    /// Throws `invalid` at `type` for a type of Carillon's own.
    package func checkTypeIsFree() throws(ModelError) {
        guard !hasReservedType else {
            throw ModelError(
                .invalid,
                field: "type",
                "types that begin with carillon. are Carillon's own, and are read from their own topics only"
            )
        }
    }

    /// True when ``dataContentType`` is a JSON type or nil.
    public var isJSON: Bool {
        dataContentType.map(Self.isJSON) ?? true
    }

    static func isJSON(_ contentType: String) -> Bool {
        // A fast path for the most common type.
        if contentType == "application/json" { return true }
        let media = contentType.lowercased().prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }
        return media == "application/json" || media == "text/json" || media.hasSuffix("+json")
    }

    /// Throws `invalid` with the attribute's name when an attribute is empty, too long, or contains control characters,
    /// and `too-large` for the data.
    public func validate() throws(ModelError) {
        try Self.check("id", id, mayBeEmpty: false)
        try Self.check("source", source, mayBeEmpty: false)
        try Self.check("type", type, mayBeEmpty: false)
        if let subject { try Self.check("subject", subject, mayBeEmpty: false) }
        if let dataContentType { try Self.check("datacontenttype", dataContentType, mayBeEmpty: false) }
        if let dataSchema { try Self.check("dataschema", dataSchema, mayBeEmpty: false) }
        for (name, value) in extensions {
            try Self.checkExtension(name)
            try Self.check(name, value, mayBeEmpty: true)
        }
        guard data.count <= ModelLimits.businessEventBytes else {
            throw ModelError(
                .tooLarge,
                field: "data",
                "has \(data.count) bytes, at most \(ModelLimits.businessEventBytes) are allowed"
            )
        }
    }

    private static func check(_ name: String, _ value: String, mayBeEmpty: Bool) throws(ModelError) {
        guard mayBeEmpty || !value.isEmpty else { throw ModelError(.invalid, field: name, "must not be empty") }
        guard value.utf8.count <= ModelLimits.businessEventAttributeBytes else {
            throw ModelError(
                .invalid,
                field: name,
                "has \(value.utf8.count) bytes, at most \(ModelLimits.businessEventAttributeBytes) are allowed"
            )
        }
        var text = value
        let control = text.withUTF8 { PercentEncoding.firstControlCharacter(in: UnsafeRawBufferPointer($0)) }
        guard control == nil else { throw ModelError(.invalid, field: name, "must not contain control characters") }
    }

    static func checkExtension(_ name: String) throws(ModelError) {
        let isLegal = name.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) }
        guard isLegal, (1...20).contains(name.utf8.count) else {
            throw ModelError(
                .invalid,
                field: String(name.prefix(64)),
                "is not a valid extension name: use 1 to 20 of a-z and 0-9"
            )
        }
    }
}
