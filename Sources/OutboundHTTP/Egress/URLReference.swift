/// A URL or relative reference by RFC 3986, split into its parts. Mends nothing: whatever the grammar does not allow is
/// refused.
struct URLReference {
    /// A longer text, or a longer result of a resolution, is refused.
    static let maximumBytes = 2_048

    private typealias Bytes = ArraySlice<UInt8>

    /// Nil without a scheme.
    private let usesTLS: Bool?
    private let authority: Bytes?
    private let path: Bytes
    private let query: Bytes?

    /// - Throws: `url-malformed`, or `scheme-refused` for another scheme than `https` and `http`.
    init(_ text: String) throws(EgressRefusal) {
        guard text.utf8.count <= Self.maximumBytes else {
            throw .malformed("the URL has \(text.utf8.count) bytes; at most \(Self.maximumBytes) are allowed")
        }
        var rest = Array(text.utf8)[...]
        if let index = rest.firstIndex(where: { !(0x21...0x7E).contains($0) }) {
            throw .malformed("byte \(index) of the URL is not a printable ASCII character; percent-encode it")
        }
        let delimiter = rest.firstIndex { ":/?#".utf8.contains($0) }
        if let colon = delimiter, rest[colon] == UInt8(ascii: ":") {
            usesTLS = try Self.usesTLS(scheme: rest[..<colon])
            rest = rest[(colon + 1)...]
        } else {
            usesTLS = nil
        }
        // The fragment stays with the client, but must be well-formed.
        if let fragment = Self.cut(&rest, at: UInt8(ascii: "#")) { try Self.checkCharacters(fragment, of: "fragment") }
        query = Self.cut(&rest, at: UInt8(ascii: "?"))
        if let query { try Self.checkCharacters(query, of: "query") }
        if rest.starts(with: "//".utf8) {
            rest = rest.dropFirst(2)
            let end = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
            authority = rest[..<end]
            rest = rest[end...]
        } else {
            authority = nil
        }
        try Self.checkCharacters(rest, of: "path")
        path = rest
    }

    /// Resolves the reference (RFC 3986, 5.2.2).
    ///
    /// - Parameter base: What a relative reference is relative to; nil allows only absolute URLs.
    /// - Throws: `url-malformed`, or `address-refused` for an address that is not in canonical notation.
    func resolved(against base: EgressURL?) throws(EgressRefusal) -> EgressURL {
        guard let usesTLS = usesTLS ?? base?.usesTLS else {
            throw .malformed("the URL has no scheme; begin it with https://")
        }
        let url: EgressURL
        if let authority {
            let (host, port) = try Self.hostAndPort(authority)
            url = EgressURL(
                usesTLS: usesTLS,
                host: host.name,
                port: port ?? (usesTLS ? 443 : 80),
                target: Self.target(path, query),
                address: host.address
            )
        } else {
            guard self.usesTLS == nil, let base else {
                throw .malformed("the scheme is not followed by `//` and a host")
            }
            url = EgressURL(
                usesTLS: usesTLS,
                host: base.host,
                port: base.port,
                target: target(relativeTo: base),
                address: base.address
            )
        }
        guard url.text.utf8.count <= Self.maximumBytes else {
            throw .malformed("the URL has more than \(Self.maximumBytes) bytes after its resolution")
        }
        return url
    }

    static func isHexDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }

    // MARK: - Parts

    /// Splits off what follows the first separator; nil if there is none.
    private static func cut(_ text: inout Bytes, at separator: UInt8) -> Bytes? {
        guard let index = text.firstIndex(of: separator) else { return nil }
        defer { text = text[..<index] }
        return text[(index + 1)...]
    }

    private static func usesTLS(scheme: Bytes) throws(EgressRefusal) -> Bool {
        switch String(decoding: scheme, as: UTF8.self).lowercased() {
        case "https": return true
        case "http": return false
        default:
            let isLetter = { (byte: UInt8) in (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) }
            let isDigit = { (byte: UInt8) in (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
            guard let first = scheme.first, isLetter(first),
                scheme.allSatisfy({ isLetter($0) || isDigit($0) || "+-.".utf8.contains($0) })
            else { throw .malformed("the text before the first colon is not a scheme") }
            throw EgressRefusal(.schemeRefused, "the scheme is not https")
        }
    }

    private static func hostAndPort(_ authority: Bytes) throws(EgressRefusal) -> (EgressHost, Int?) {
        guard !authority.contains(UInt8(ascii: "@")) else {
            throw .malformed("the URL has user info before the host, which is not allowed")
        }
        let afterBracket = authority.lastIndex(of: UInt8(ascii: "]")).map { $0 + 1 } ?? authority.startIndex
        guard let colon = authority[afterBracket...].firstIndex(of: UInt8(ascii: ":")) else {
            return (try EgressHost(authority), nil)
        }
        let digits = String(decoding: authority[(colon + 1)...], as: UTF8.self)
        guard let port = UInt16(digits), String(port) == digits else {
            throw .malformed("the port is not a decimal number of at most 65535 without leading zeros")
        }
        return (try EgressHost(authority[..<colon]), Int(port))
    }

    /// Unreserved characters, sub-delims, `:`, `@`, `/` and `?` (RFC 3986, 3.3 and 3.4), and escapes.
    private static func checkCharacters(_ text: Bytes, of part: String) throws(EgressRefusal) {
        for (index, byte) in zip(text.indices, text) {
            if byte == UInt8(ascii: "%") {
                let digits = text[(index + 1)...].prefix(2)
                guard digits.count == 2, digits.allSatisfy(isHexDigit) else {
                    throw .malformed("a `%` in the \(part) is not followed by two hexadecimal digits")
                }
            } else if "\"<>[\\]^`{|}#".utf8.contains(byte) {
                throw .malformed("the \(part) has a character that must be percent-encoded, at byte \(index)")
            }
        }
    }

    // MARK: - Path and query

    private func target(relativeTo base: EgressURL) -> String {
        let basePath = Array(base.path)[...]
        if path.isEmpty { return Self.target(basePath, query ?? base.query.map { Array($0)[...] }) }
        if path.first == UInt8(ascii: "/") { return Self.target(path, query) }
        let afterFolder = basePath.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? basePath.startIndex
        return Self.target(basePath[..<afterFolder] + path, query)
    }

    private static func target(_ path: Bytes, _ query: Bytes?) -> String {
        let path = String(decoding: withoutDotSegments(path), as: UTF8.self)
        return query.map { "\(path)?\(String(decoding: $0, as: UTF8.self))" } ?? path
    }

    /// Applies `.` and `..` (RFC 3986, 5.2.4). The result begins with `/`.
    private static func withoutDotSegments(_ path: Bytes) -> [UInt8] {
        var kept: [Bytes] = []
        let segments = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).dropFirst()
        for (index, segment) in zip(segments.indices, segments) {
            switch segment.count {
            case 1 where segment.first == UInt8(ascii: "."): break
            case 2 where segment.elementsEqual("..".utf8): _ = kept.popLast()
            default:
                kept.append(segment)
                continue
            }
            // A dot segment at the end leaves a slash.
            if index == segments.endIndex - 1 { kept.append([]) }
        }
        return kept.isEmpty ? [UInt8(ascii: "/")] : kept.flatMap { [UInt8(ascii: "/")] + $0 }
    }
}
