package import NotificationModel

/// The target of an HTTP request, split and percent-decoded exactly once, here and nowhere else. The framework's router
/// leaves path parameters encoded, and a second decoding would turn `%252F` and `%2F` into the same text.
///
/// Only a literal `/` separates; `.` and `..` are ordinary texts, `+` is a plus.
package struct RequestTarget: Sendable {
    /// Segments of the path, still encoded; a trailing slash gives an empty last segment.
    let segments: [Substring]
    private let query: Substring?

    init(_ target: String) {
        let path: Substring
        if let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) {
            path = target[..<mark]
            query = target[target.utf8.index(after: mark)...]
        } else {
            path = target[...]
            query = nil
        }
        // Splits bytes, which is much cheaper than characters; no part of a multibyte character is a slash.
        segments = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).dropFirst()
            .map { Substring($0) }
    }

    /// - Throws: `invalid` with the field for an invalid escape, or `not-utf8`. The model checks the contents of the
    ///   text.
    static func decode(_ segment: Substring, field: String) throws(ModelError) -> String {
        guard segment.utf8.contains(UInt8(ascii: "%")) else { return String(segment) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(segment.utf8.count)
        var rest = segment.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(hexDigit), let low = rest.popFirst().flatMap(hexDigit) else {
                throw ModelError(
                    .invalid,
                    field: field,
                    "a `%` must be followed by two hexadecimal digits; write %25 for a percent sign"
                )
            }
            bytes.append(high << 4 | low)
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ModelError(.notUTF8, field: field, "the decoded text is not UTF-8")
        }
        return text
    }

    /// The parameters of a query.
    package struct Parameters: Equatable {
        fileprivate(set) var single: [String: String] = [:]
        /// The values of the repeatable parameter, in order.
        package fileprivate(set) var repeated: [String] = []

        package subscript(name: String) -> String? { single[name] }
    }

    /// The query's parameters.
    ///
    /// - Parameters:
    ///   - allowed: Names that this request may have, once each: a misspelt `?stat=` must not silently mean the
    ///     default.
    ///   - repeatable: A name that may occur any number of times.
    package func parameters(allowed: [String], repeatable: String? = nil) throws(ModelError) -> Parameters {
        var result = Parameters()
        guard let query, !query.isEmpty else { return result }
        for pair in query.utf8.split(separator: UInt8(ascii: "&")) {
            let equals = pair.firstIndex(of: UInt8(ascii: "="))
            let name = try Self.decode(Substring(pair[..<(equals ?? pair.endIndex)]), field: "query")
            let value = equals.map { Substring(pair[pair.index(after: $0)...]) } ?? ""
            if name == repeatable {
                result.repeated.append(try Self.decode(value, field: name))
                continue
            }
            guard allowed.contains(name) else {
                let names = (allowed + [repeatable].compactMap(\.self)).sorted().joined(separator: ", ")
                throw ModelError(
                    .unknownField,
                    field: name,
                    names.isEmpty ? "takes no query parameters" : "unknown query parameter; known parameters: \(names)"
                )
            }
            guard result.single[name] == nil else {
                throw ModelError(.invalid, field: name, "the query parameter appears twice")
            }
            result.single[name] = try Self.decode(value, field: name)
        }
        return result
    }

    /// The first value of a parameter; nil without one.
    func first(_ wanted: String) throws(ModelError) -> String? {
        guard let query else { return nil }
        for pair in query.utf8.split(separator: UInt8(ascii: "&")) {
            let equals = pair.firstIndex(of: UInt8(ascii: "="))
            let name = try Self.decode(Substring(pair[..<(equals ?? pair.endIndex)]), field: "query")
            guard name.hasSameUTF8(as: wanted) else { continue }
            return try Self.decode(equals.map { Substring(pair[pair.index(after: $0)...]) } ?? "", field: name)
        }
        return nil
    }

    private static func hexDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
