import NotificationModel

/// Writes `ExportTraceServiceRequest` in the JSON of OTLP: ids are hexadecimal, 64-bit numbers are texts.
package struct SpanJSON: Sendable {
    private let resource: [UInt8]
    private let scope: [UInt8]

    /// - Parameters:
    ///   - resource: the attributes of the process, such as `service.name`.
    ///   - version: of the program.
    package init(resource: [(key: String, value: String)], version: String) {
        self.resource = JSONObjectWriter.object { object, out in
            object.member(
                "attributes",
                resource.map { .init(key: $0.key, value: .text($0.value)) } as [Span.Attribute],
                &out
            )
        }
        scope = JSONObjectWriter.object { object, out in
            object.member("name", "carillon", &out)
            object.member("version", version, &out)
        }
    }

    /// The body of a request.
    package func body(_ spans: [Span]) -> [UInt8] {
        JSONObjectWriter.object { object, out in
            object.array("resourceSpans", of: [spans], &out) { spans, out in
                var object = JSONObjectWriter()
                object.begin("resource", &out)
                out += resource
                object.array("scopeSpans", of: [spans], &out) { spans, out in
                    var object = JSONObjectWriter()
                    object.begin("scope", &out)
                    out += scope
                    object.member("spans", spans, &out)
                    object.end(&out)
                }
                object.end(&out)
            }
        }
    }
}

extension Span: JSONWritable {
    package func writeJSON(to out: inout [UInt8]) {
        var object = JSONObjectWriter()
        context.writeIDs(to: &object, &out)
        object.member("parentSpanId", parent.map(SpanContext.hex), &out)
        object.member("name", name, &out)
        object.member("kind", Int64(kind.rawValue), &out)
        object.member("startTimeUnixNano", "\(start)", &out)
        object.member("endTimeUnixNano", "\(end)", &out)
        var attributes = attributes
        if let error { attributes.append(.init(key: "error.type", value: .text(error))) }
        if !attributes.isEmpty { object.member("attributes", attributes, &out) }
        if !links.isEmpty {
            object.array("links", of: links, &out) { link, out in
                var object = JSONObjectWriter()
                link.writeIDs(to: &object, &out)
                object.end(&out)
            }
        }
        // `STATUS_CODE_ERROR`; without it the status is unset, as the conventions ask for.
        if error != nil {
            object.begin("status", &out)
            out += JSONObjectWriter.object { $0.member("code", Int64(2), &$1) }
        }
        object.end(&out)
    }
}

extension SpanContext {
    fileprivate func writeIDs(to object: inout JSONObjectWriter, _ out: inout [UInt8]) {
        object.member("traceId", trace.hex, &out)
        object.member("spanId", SpanContext.hex(span), &out)
    }
}

extension Span.Attribute: JSONWritable {
    package func writeJSON(to out: inout [UInt8]) {
        var object = JSONObjectWriter()
        object.member("key", key, &out)
        object.begin("value", &out)
        var typed = JSONObjectWriter()
        switch value {
        case .text(let text): typed.member("stringValue", text, &out)
        case .number(let number): typed.member("intValue", "\(number)", &out)
        }
        typed.end(&out)
        object.end(&out)
    }
}
