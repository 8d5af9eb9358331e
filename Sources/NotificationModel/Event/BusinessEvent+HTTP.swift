extension BusinessEvent {
    /// Reads the events of an HTTP request: one in binary or structured mode, any number in a batch.
    ///
    /// `Content-Type` selects the mode: `application/cloudevents-batch…` is a batch, other types that begin with
    /// `application/cloudevents` are structured, everything else is binary, with percent-decoded `ce-…` headers.
    /// Well-formed `traceparent` and `tracestate` headers become extensions of every event without its own. Throws
    /// `invalid` with the attribute's name (in a batch after the index, `2.id`), `not-utf8` or `too-large`.
    ///
    /// - Parameters:
    ///   - headers: names in any case
    ///   - body: the whole body
    public static func parse(
        httpHeaders headers: [(name: String, value: String)],
        body: [UInt8]
    ) throws(ModelError) -> [BusinessEvent] {
        var contentType: String?
        var (traceparent, tracestate): (String?, String?)
        for header in headers {
            let name = header.name.lowercased()
            switch name {
            case "content-type": contentType = header.value
            case "traceparent": traceparent = header.value
            case "tracestate": tracestate = header.value
            default: break
            }
        }
        let trace = TraceContext(traceparent: traceparent, tracestate: tracestate)
        var events: [BusinessEvent]
        if let contentType, isBatch(contentType) {
            events = try batch(contentType: contentType, body: body)
        } else if let contentType, isStructured(contentType) {
            events = [try structured(contentType: contentType, body: body)]
        } else {
            events = [try binary(headers, contentType: contentType, body: body)]
        }
        for index in events.indices {
            trace?.apply(to: &events[index])
        }
        return events
    }

    private static func binary(
        _ headers: [(name: String, value: String)],
        contentType: String?,
        body: [UInt8]
    ) throws(ModelError) -> BusinessEvent {
        var builder = BusinessEventBuilder()
        builder.dataContentType = contentType
        builder.data = body
        builder.isBinary = true
        for header in headers {
            let name = header.name.lowercased()
            guard name.hasPrefix("ce-") else { continue }
            let attribute = String(name.dropFirst(3))
            if attribute == "datacontenttype", contentType != nil { continue }
            let value: String
            do throws(ModelError) {
                value = try PercentEncoding.decodeOnce(unquoted(header.value))
            } catch {
                throw ModelError(error.reason, field: attribute, error.detail)
            }
            try builder.set(attribute, value)
        }
        return try builder.event()
    }

    /// A value without its double quotes; the HTTP binding asks readers to accept quoted values of older writers.
    private static func unquoted(_ value: String) -> String {
        guard value.utf8.count >= 2, value.hasPrefix("\""), value.hasSuffix("\"") else { return value }
        var out = ""
        var isEscaped = false
        for character in value.dropFirst().dropLast() {
            if character == "\\", !isEscaped {
                isEscaped = true
            } else {
                out.append(character)
                isEscaped = false
            }
        }
        return out
    }
}
