import NotificationModel

/// Writes `ExportTraceServiceRequest` in the JSON of OTLP: ids are hexadecimal, 64-bit numbers are texts.
package struct SpanJSON: Sendable {
    /// The part of a request before its spans.
    private let head: [UInt8]
    private static let tail = Array("]}]}]}".utf8)

    /// - Parameters:
    ///   - resource: the attributes of the process, such as `service.name`.
    ///   - version: of the program.
    package init(resource: [(key: String, value: String)], version: String) {
        var head: [UInt8] = []
        JSONWriter.append("{\"resourceSpans\":[{\"resource\":{\"attributes\":", to: &head)
        Self.write(resource.map { Span.Attribute(key: $0.key, value: .text($0.value)) }, to: &head)
        JSONWriter.append("},\"scopeSpans\":[{\"scope\":{\"name\":\"carillon\",\"version\":", to: &head)
        JSONWriter.append(string: version, to: &head)
        JSONWriter.append("},\"spans\":[", to: &head)
        self.head = head
    }

    /// The body of a request.
    package func body(_ spans: [Span]) -> [UInt8] {
        var out = head
        for (index, span) in spans.enumerated() {
            if index > 0 { JSONWriter.append(",", to: &out) }
            Self.write(span, to: &out)
        }
        return out + Self.tail
    }

    private static func write(_ span: Span, to out: inout [UInt8]) {
        JSONWriter.append("{", to: &out)
        write(span.context, to: &out)
        if let parent = span.parent {
            JSONWriter.append(",\"parentSpanId\":", to: &out)
            JSONWriter.append(string: SpanContext.hex(parent), to: &out)
        }
        JSONWriter.append(",\"name\":", to: &out)
        JSONWriter.append(string: span.name, to: &out)
        JSONWriter.append(",\"kind\":", to: &out)
        JSONWriter.append(number: span.kind.rawValue, to: &out)
        JSONWriter.append(",\"startTimeUnixNano\":", to: &out)
        JSONWriter.append(string: "\(span.start)", to: &out)
        JSONWriter.append(",\"endTimeUnixNano\":", to: &out)
        JSONWriter.append(string: "\(span.end)", to: &out)
        var attributes = span.attributes
        if let error = span.error { attributes.append(.init(key: "error.type", value: .text(error))) }
        if !attributes.isEmpty {
            JSONWriter.append(",\"attributes\":", to: &out)
            write(attributes, to: &out)
        }
        if !span.links.isEmpty {
            JSONWriter.append(",\"links\":[", to: &out)
            for (index, link) in span.links.enumerated() {
                JSONWriter.append(index == 0 ? "{" : ",{", to: &out)
                write(link, to: &out)
                JSONWriter.append("}", to: &out)
            }
            JSONWriter.append("]", to: &out)
        }
        // `STATUS_CODE_ERROR`; without it the status is unset, as the conventions ask for.
        if span.error != nil { JSONWriter.append(",\"status\":{\"code\":2}", to: &out) }
        JSONWriter.append("}", to: &out)
    }

    private static func write(_ context: SpanContext, to out: inout [UInt8]) {
        JSONWriter.append("\"traceId\":", to: &out)
        JSONWriter.append(string: context.trace.hex, to: &out)
        JSONWriter.append(",\"spanId\":", to: &out)
        JSONWriter.append(string: SpanContext.hex(context.span), to: &out)
    }

    private static func write(_ attributes: [Span.Attribute], to out: inout [UInt8]) {
        JSONWriter.append("[", to: &out)
        for (index, attribute) in attributes.enumerated() {
            JSONWriter.append(index == 0 ? "{\"key\":" : ",{\"key\":", to: &out)
            JSONWriter.append(string: attribute.key, to: &out)
            switch attribute.value {
            case .text(let text):
                JSONWriter.append(",\"value\":{\"stringValue\":", to: &out)
                JSONWriter.append(string: text, to: &out)
            case .number(let number):
                JSONWriter.append(",\"value\":{\"intValue\":", to: &out)
                JSONWriter.append(string: "\(number)", to: &out)
            }
            JSONWriter.append("}}", to: &out)
        }
        JSONWriter.append("]", to: &out)
    }
}
