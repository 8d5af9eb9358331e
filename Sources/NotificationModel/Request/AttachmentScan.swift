private enum AttachmentField: FieldName {
    case identifier, url, options
}

private enum OptionField: FieldName {
    case typeHint, thumbnailHidden, thumbnailClippingRect, thumbnailTime
}

private enum RectField: FieldName {
    case x, y, width, height
}

extension JSONScanner {
    /// Validates attachments and returns their number.
    mutating func attachments() throws(ModelError) -> Int {
        var identifiers: [JSONStringToken] = []
        try array { scanner, index throws(ModelError) in
            guard index < ModelLimits.attachments else {
                throw scanner.value("at most \(ModelLimits.attachments) attachments are allowed")
            }
            let identifier = try scanner.attachment()
            let mine = scanner.unescaped(identifier)
            for other in identifiers where scanner.unescaped(other) == mine {
                throw ModelError(.invalid, field: "identifier", "another attachment has this identifier")
            }
            identifiers.append(identifier)
        }
        return identifiers.count
    }

    private mutating func attachment() throws(ModelError) -> JSONStringToken {
        var identifier: JSONStringToken?
        let seen = try object(of: AttachmentField.self, from: .body) { scanner, field throws(ModelError) in
            switch field {
            case .identifier:
                let text = try scanner.string(bytes: 1...ModelLimits.keyComponentBytes)
                try scanner.withBytes(text) { bytes throws(ModelError) in
                    guard PercentEncoding.firstControlCharacter(in: bytes) == nil else {
                        throw ModelError(.invalid, field: "", "must not contain control characters")
                    }
                }
                identifier = text
            case .url:
                let text = try scanner.string(bytes: 1...ModelLimits.urlBytes)
                let fault = try scanner.withBytes(text) { bytes throws(ModelError) in MediaURL.fault(of: bytes) }
                if let fault { throw scanner.value(fault) }
            case .options:
                try scanner.attachmentOptions()
            }
        }
        guard let identifier else { throw missing("identifier") }
        try seen.require(.url)
        return identifier
    }

    private mutating func attachmentOptions() throws(ModelError) {
        try object(of: OptionField.self, from: .body) { scanner, field throws(ModelError) in
            switch field {
            case .typeHint: _ = try scanner.string(bytes: 1...ModelLimits.shortTextBytes)
            case .thumbnailHidden: _ = try scanner.boolean()
            case .thumbnailClippingRect: try scanner.clippingRect()
            case .thumbnailTime: _ = try scanner.decimal(in: 0...Double.greatestFiniteMagnitude)
            }
        }
    }

    private mutating func clippingRect() throws(ModelError) {
        let seen = try object(of: RectField.self, from: .body) { scanner, _ throws(ModelError) in
            _ = try scanner.decimal(in: 0...1)
        }
        try seen.require(.x, .y, .width, .height)
    }
}

/// The model's requirements for a URL, checked before anything is fetched from it.
enum MediaURL {
    /// Why it is not a valid absolute http or https URL with a host; nil if it is.
    static func fault(of bytes: UnsafeRawBufferPointer) -> String? {
        for byte in bytes {
            switch byte {
            case 0x00...0x20, 0x7F...0xFF, 0x22, 0x3C, 0x3E, 0x5C, 0x5E, 0x60, 0x7B, 0x7C, 0x7D:
                return
                    "must be percent-encoded: white space, control characters, non-ASCII and \"<>\\^`{|} are not allowed"
            default:
                continue
            }
        }
        let scheme: Int
        if hasPrefix(bytes, "https://") {
            scheme = 8
        } else if hasPrefix(bytes, "http://") {
            scheme = 7
        } else {
            return "must be an absolute http or https URL"
        }
        var end = scheme
        while end < bytes.count, bytes[end] != 0x2F, bytes[end] != 0x3F, bytes[end] != 0x23 { end += 1 }
        let authority = bytes[scheme..<end]
        guard !authority.contains(0x40) else { return "must not contain a user name or password" }
        var host = authority
        if authority.first == 0x5B {
            guard let close = authority.firstIndex(of: 0x5D) else { return "has an IPv6 address without ']'" }
            let inside = authority[(scheme + 1)..<close]
            guard inside.count >= 2, inside.allSatisfy({ PercentEncoding.digit($0) != nil || $0 == 0x3A || $0 == 0x2E })
            else { return "has a malformed IPv6 address" }
            let rest = authority[(close + 1)...]
            return rest.isEmpty || (rest.first == 0x3A && isPort(rest.dropFirst())) ? nil : "has a malformed port"
        }
        if let colon = authority.firstIndex(of: 0x3A) {
            guard isPort(authority[(colon + 1)...]) else { return "has a malformed port" }
            host = authority[..<colon]
        }
        guard !host.isEmpty, host.first != 0x2E else { return "must have a host" }
        let isPlain = host.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
            default: false
            }
        }
        return isPlain ? nil : "has a malformed host"
    }

    private static func hasPrefix(_ bytes: UnsafeRawBufferPointer, _ prefix: StaticString) -> Bool {
        guard bytes.count > prefix.utf8CodeUnitCount else { return false }
        for index in 0..<prefix.utf8CodeUnitCount {
            let byte = bytes[index]
            let lower = byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte
            if lower != prefix.utf8Start[index] { return false }
        }
        return true
    }

    private static func isPort(_ bytes: Slice<UnsafeRawBufferPointer>) -> Bool {
        guard (1...5).contains(bytes.count), bytes.allSatisfy({ $0 &- 0x30 <= 9 }) else { return false }
        return (1...65_535).contains(bytes.reduce(0) { $0 * 10 + Int($1 - 0x30) })
    }
}
