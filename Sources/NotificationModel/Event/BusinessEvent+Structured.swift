extension BusinessEvent {
    /// True for media types that begin with `application/cloudevents`, in any case.
    static func isStructured(_ contentType: String) -> Bool {
        // Skips the parsing for the most common type.
        contentType != "application/json" && media(contentType).hasPrefix("application/cloudevents")
    }

    static func isBatch(_ contentType: String) -> Bool {
        media(contentType).hasPrefix("application/cloudevents-batch")
    }

    /// The media type without parameters, in lower case.
    private static func media(_ contentType: String) -> String {
        String(contentType.lowercased().prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" })
    }

    static func structured(contentType: String, body: [UInt8]) throws(ModelError) -> BusinessEvent {
        let found = media(contentType)
        guard found == "application/cloudevents+json" || found == "application/cloudevents" else {
            throw unsupported(found)
        }
        return try scan(body) { scanner throws(ModelError) in try scanner.businessEvent() }
    }

    static func batch(contentType: String, body: [UInt8]) throws(ModelError) -> [BusinessEvent] {
        let found = media(contentType)
        guard found == "application/cloudevents-batch+json" || found == "application/cloudevents-batch" else {
            throw unsupported(found)
        }
        return try scan(body) { scanner throws(ModelError) in
            var events: [BusinessEvent] = []
            try scanner.array { scanner, index throws(ModelError) in
                guard index < ModelLimits.businessEventsInBatch else {
                    throw ModelError(
                        .tooLarge,
                        field: "",
                        "at most \(ModelLimits.businessEventsInBatch) events are allowed in a batch"
                    )
                }
                events.append(try scanner.businessEvent())
            }
            return events
        }
    }

    private static func unsupported(_ media: String) -> ModelError {
        ModelError(
            .invalid,
            field: "content-type",
            "\"\(media.prefix(64))\" is not supported: use application/cloudevents+json"
        )
    }

    private static func scan<Value>(
        _ body: [UInt8],
        _ read: (inout JSONScanner) throws(ModelError) -> Value
    ) throws(ModelError) -> Value {
        guard body.count <= ModelLimits.businessEventBytes else {
            throw ModelError(
                .tooLarge,
                "the event has \(body.count) bytes, at most \(ModelLimits.businessEventBytes) are allowed"
            )
        }
        return try body.borrowed { bytes throws(ModelError) in
            var scanner = JSONScanner(bytes)
            return try scanner.whole(read)
        }
    }
}

extension JSONScanner {
    /// An event in the JSON event format. `data` is kept as the bytes it was written with.
    fileprivate mutating func businessEvent() throws(ModelError) -> BusinessEvent {
        var builder = BusinessEventBuilder()
        var data: Range<Int>?
        var dataText: JSONStringToken?
        var encoded: [UInt8]?
        try object { scanner, name throws(ModelError) in
            let attribute = scanner.materialise(name)
            switch attribute {
            case "data":
                guard data == nil else { throw scanner.value("appears twice") }
                let start = scanner.position
                if scanner.peek() == 0x22 { dataText = try scanner.text() } else { try scanner.skipValue() }
                data = start..<scanner.position
            case "data_base64":
                guard encoded == nil else { throw scanner.value("appears twice") }
                let text = try scanner.string()
                guard let bytes = Base64.decode(scanner.unescaped(text)) else {
                    throw scanner.value("must be base64")
                }
                encoded = bytes
            default:
                // In the JSON format null means that the attribute is absent.
                guard let value = try scanner.attributeText() else { return }
                do throws(ModelError) {
                    try builder.set(attribute, value)
                } catch {
                    throw ModelError(error.reason, field: "", error.detail)
                }
            }
        }
        if let encoded {
            guard data == nil else { throw ModelError(.invalid, field: "data_base64", "cannot be combined with data") }
            builder.data = encoded
        } else if let data {
            if let dataText, let type = builder.dataContentType, !BusinessEvent.isJSON(type) {
                // Text of another media type is carried as a JSON string; use the string's contents.
                builder.data = unescaped(dataText)
            } else {
                builder.data = Array(bytes[data])
            }
        }
        return try builder.event()
    }

    /// An attribute's value as text: a string, a number or a boolean; nil for null.
    private mutating func attributeText() throws(ModelError) -> String? {
        switch peek() {
        case 0x22:
            return materialise(try text())
        case 0x74, 0x66:
            return try boolean() ? "true" : "false"
        case 0x2D, 0x30...0x39:
            let token = try numberToken()
            return String(decoding: bytes[token.start..<token.end], as: UTF8.self)
        case 0x6E:
            try literal("null")
            return nil
        default:
            throw unexpected("a string, a number or a boolean")
        }
    }
}

/// Base64 of RFC 4648 section 4, padded, without line breaks.
enum Base64 {
    static func decode(_ text: [UInt8]) -> [UInt8]? {
        guard text.count % 4 == 0 else { return nil }
        let padding = text.suffix(2).reversed().prefix { $0 == 0x3D }.count
        var out: [UInt8] = []
        out.reserveCapacity(text.count / 4 * 3)
        var bits: UInt32 = 0
        var count = 0
        for byte in text.dropLast(padding) {
            guard let value = value(of: byte) else { return nil }
            bits = bits << 6 | UInt32(value)
            count += 6
            if count >= 8 {
                count -= 8
                out.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        // The remaining bits must be zero, so that every byte sequence has one encoding.
        guard bits & ((1 << UInt32(count)) - 1) == 0 else { return nil }
        return out
    }

    private static func value(of byte: UInt8) -> UInt8? {
        switch byte {
        case 0x41...0x5A: byte - 0x41
        case 0x61...0x7A: byte - 0x61 + 26
        case 0x30...0x39: byte - 0x30 + 52
        case 0x2B: 62
        case 0x2F: 63
        default: nil
        }
    }
}
