/// Reads an event from a record: its headers one by one from the record's memory, then its value.
///
/// An event is structured when its `content-type` begins with `application/cloudevents` in any case, otherwise binary.
/// Well-formed `traceparent` and `tracestate` headers become extensions unless the event has its own. Header names are
/// case-insensitive.
public struct BusinessEventReader {
    private var builder = BusinessEventBuilder()
    private var contentType: String?
    /// `ce_datacontenttype`, used only without the `content-type` header.
    private var dataContentType: String?
    private var traceparent: String?
    private var tracestate: String?
    /// The error of an attribute or of the content type; a structured event ignores attribute headers.
    private var failure: ModelError?
    private var contentTypeFailure: ModelError?

    /// Nothing read yet.
    public init() {}

    /// Reads a header; a null value counts as an empty one.
    public mutating func add(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer?) {
        if name.contains(where: { (0x41...0x5A).contains($0) }) {
            let lowercased = name.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
            lowercased.withUnsafeBytes { add(lowercased: $0, value) }
        } else {
            add(lowercased: name, value)
        }
    }

    private mutating func add(lowercased name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer?) {
        let value = value ?? UnsafeRawBufferPointer(start: nil, count: 0)
        if name.count >= 3, name[0] == 0x63, name[1] == 0x65, name[2] == 0x5F {
            do throws(ModelError) {
                try set(UnsafeRawBufferPointer(rebasing: name[3...]), value)
            } catch {
                failure = failure ?? error
            }
            return
        }
        switch FieldName(bytes: name) {
        case "content-type":
            do throws(ModelError) {
                contentType = try Self.text(value, of: "datacontenttype")
            } catch {
                contentTypeFailure = contentTypeFailure ?? error
            }
        case "traceparent": traceparent = String(validating: value, as: UTF8.self)
        case "tracestate": tracestate = String(validating: value, as: UTF8.self)
        default: break
        }
    }

    private mutating func set(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(ModelError) {
        guard let attribute = EventAttribute.named(FieldName(bytes: name)) else {
            let name = String(decoding: name, as: UTF8.self)
            return try builder.setExtension(name, try Self.text(value, of: name))
        }
        let text = try Self.text(value, of: "\(attribute)")
        guard attribute == .datacontenttype else { return try builder.set(attribute, text) }
        guard dataContentType == nil else { throw ModelError(.invalid, field: "datacontenttype", "appears twice") }
        dataContentType = text
    }

    /// The event. Throws `invalid` with the attribute's name, `not-utf8` or `too-large`.
    ///
    /// - Parameter value: the record's value; null means no data
    public consuming func event(value: [UInt8]?) throws(ModelError) -> BusinessEvent {
        if let contentTypeFailure { throw contentTypeFailure }
        var event: BusinessEvent
        if let contentType, BusinessEvent.isStructured(contentType) {
            event = try .structured(contentType: contentType, body: value ?? [])
        } else {
            if let failure { throw failure }
            builder.dataContentType = contentType ?? dataContentType
            builder.data = value ?? []
            builder.isBinary = true
            event = try builder.event()
        }
        TraceContext(traceparent: traceparent, tracestate: tracestate)?.apply(to: &event)
        return event
    }

    /// UTF-8 bytes as text. Throws `not-utf8` with the attribute's name.
    private static func text(
        _ bytes: UnsafeRawBufferPointer,
        of name: @autoclosure () -> String
    ) throws(ModelError) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ModelError(.notUTF8, field: name(), "is not UTF-8")
        }
        return text
    }
}

extension BusinessEvent {
    /// Reads an event from a record, as ``BusinessEventReader``.
    ///
    /// - Parameters:
    ///   - headers: the record's headers, in order
    ///   - value: the record's value; null means no data
    public init(kafkaHeaders headers: [(name: String, value: [UInt8]?)], value: [UInt8]?) throws(ModelError) {
        var reader = BusinessEventReader()
        for header in headers {
            Array(header.name.utf8).withUnsafeBytes { name in
                if let value = header.value {
                    value.withUnsafeBytes { reader.add(name: name, value: $0) }
                } else {
                    reader.add(name: name, value: nil)
                }
            }
        }
        self = try reader.event(value: value)
    }

    /// The headers of the event in binary mode; ``data`` is the record's value. Extensions are sorted by name. A valid
    /// `traceparent` and `tracestate` are also written under their plain names, for tracing libraries.
    public func kafkaHeaders() -> [(name: String, value: [UInt8])] {
        var headers: [(name: String, value: [UInt8])] = [
            ("ce_specversion", Array("1.0".utf8)),
            ("ce_id", Array(id.utf8)),
            ("ce_source", Array(source.utf8)),
            ("ce_type", Array(type.utf8)),
        ]
        if let time { headers.append(("ce_time", Array(time.rfc3339.utf8))) }
        if let subject { headers.append(("ce_subject", Array(subject.utf8))) }
        if let dataSchema { headers.append(("ce_dataschema", Array(dataSchema.utf8))) }
        for (name, value) in extensions.sorted(by: { $0.key < $1.key }) {
            headers.append(("ce_" + name, Array(value.utf8)))
        }
        if let dataContentType {
            headers.append(("content-type", Array(dataContentType.utf8)))
        } else if !data.isEmpty {
            headers.append(("content-type", Array("application/json".utf8)))
        }
        let trace = TraceContext(traceparent: extensions["traceparent"], tracestate: extensions["tracestate"])
        if let trace {
            headers.append(("traceparent", Array(trace.traceparent.utf8)))
            if let tracestate = trace.tracestate { headers.append(("tracestate", Array(tracestate.utf8))) }
        }
        return headers
    }

    /// The record's key, whose murmur2 hash selects the partition as in the Java client's default: the extension
    /// `partitionkey` of the CloudEvents partitioning extension, else the subject, else the source. Never empty: an
    /// empty `partitionkey` is ignored.
    ///
    /// Events with the same key take effect in the order in which they are accepted. Without `partitionkey` and subject
    /// all events of a source share a partition: they are ordered by default, and a sender can choose to spread them.
    public var kafkaKey: [UInt8] {
        if let key = extensions["partitionkey"], !key.isEmpty { return Array(key.utf8) }
        return Array((subject ?? source).utf8)
    }

    /// The record's value in binary mode; null when there is no data.
    public var kafkaValue: [UInt8]? {
        data.isEmpty ? nil : data
    }
}
