extension BusinessEvent {
    /// Reads an event from a record, structured when its `content-type` begins with `application/cloudevents` in any
    /// case, else binary.
    ///
    /// Well-formed headers `traceparent` and `tracestate` become extensions unless the event has its own. Header names
    /// are compared without regard to case. Throws `invalid` with the attribute's name, `not-utf8` or `too-large`.
    ///
    /// - Parameters:
    ///   - headers: the record's headers, in order
    ///   - value: the record's value; null is no data
    public init(kafkaHeaders headers: [(name: String, value: [UInt8]?)], value: [UInt8]?) throws(ModelError) {
        var contentType: String?
        var (traceparent, tracestate): (String?, String?)
        for header in headers {
            let name = header.name.lowercased()
            switch name {
            case "content-type":
                contentType = try BusinessEventBuilder.text(header.value ?? [], of: "datacontenttype")
            case "traceparent": traceparent = header.value.flatMap { String(validating: $0, as: UTF8.self) }
            case "tracestate": tracestate = header.value.flatMap { String(validating: $0, as: UTF8.self) }
            default: break
            }
        }
        if let contentType, Self.isStructured(contentType) {
            self = try Self.structured(contentType: contentType, body: value ?? [])
        } else {
            var builder = BusinessEventBuilder()
            builder.dataContentType = contentType
            builder.data = value ?? []
            for header in headers {
                let name = header.name.lowercased()
                guard name.hasPrefix("ce_") else { continue }
                let attribute = String(name.dropFirst(3))
                // The media type has its own header; a copy under this name is not worth a dead letter.
                if attribute == "datacontenttype", contentType != nil { continue }
                let bytes = header.value ?? []
                try builder.set(attribute, try BusinessEventBuilder.text(bytes, of: attribute))
            }
            self = try builder.event()
        }
        TraceContext(traceparent: traceparent, tracestate: tracestate)?.apply(to: &self)
    }

    /// The headers of the event in binary mode; ``data`` is the record's value. Extensions come in order of their
    /// names; `traceparent` and `tracestate` also under their own names, where tracing libraries look.
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
        for name in ["traceparent", "tracestate"] {
            if let value = extensions[name] { headers.append((name, Array(value.utf8))) }
        }
        return headers
    }

    /// The record's key, which also decides its partition: the subject, and without one the id.
    public var kafkaKey: [UInt8] {
        Array((subject ?? id).utf8)
    }

    /// The record's value in binary mode; null when there is no data.
    public var kafkaValue: [UInt8]? {
        data.isEmpty ? nil : data
    }
}
