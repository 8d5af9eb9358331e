/// The position of a value in a JSON text that ``JSONPathSet`` has scanned; nothing is copied.
public struct JSONMatch: Sendable, Hashable {
    /// The kind of value.
    public enum Kind: UInt8, Sendable {
        /// No value at this path.
        case missing
        /// The literals.
        case null, `false`, `true`
        /// The values with contents.
        case number, string, array, object
    }

    /// The kind of value found.
    public let kind: Kind
    /// Whether a string contains escapes, so that its bytes are not its text.
    public let isEscaped: Bool
    private let start: Int
    private let end: Int

    /// No value.
    public static let missing = JSONMatch(.missing, 0, 0)

    package init(_ kind: Kind, _ start: Int, _ end: Int, isEscaped: Bool = false) {
        self.kind = kind
        self.start = start
        self.end = end
        self.isEscaped = isEscaped
    }

    /// The value's bytes; for a string without its quotes, with escapes.
    public var range: Range<Int> { start..<end }

    /// Calls the body with the text of a string, escapes resolved, or with the spelling of any other value.
    ///
    /// - Parameters:
    ///   - bytes: The scanned text.
    ///   - body: Gets bytes that are valid until it returns.
    @inline(__always)
    public func withText<Result>(in bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Result) -> Result
    {
        if isEscaped {
            return JSONScanner(bytes).unescaped(JSONStringToken(start: start, end: end, isEscaped: true))
                .withUnsafeBytes(body)
        }
        return body(UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
    }

    /// Appends the value as JSON, unchanged; nothing for a missing value.
    public func appendJSON(in bytes: UnsafeRawBufferPointer, to out: inout [UInt8]) {
        if kind == .string { out.append(0x22) }
        out.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
        if kind == .string { out.append(0x22) }
    }
}

/// The elements of an array that ``JSONPathSet`` has found, one by one.
public struct JSONElements {
    private var scanner: JSONScanner
    private var isAtEnd: Bool

    /// Begins with the first element.
    ///
    /// - Parameters:
    ///   - match: An array; any other value has no elements.
    ///   - bytes: The scanned text; it must outlive this value.
    public init(of match: JSONMatch, in bytes: UnsafeRawBufferPointer) {
        scanner = JSONScanner(bytes)
        isAtEnd = match.kind != .array
        guard !isAtEnd else { return }
        scanner.position = match.range.lowerBound + 1
        scanner.skipWhitespace()
        isAtEnd = scanner.peek() == 0x5D
    }

    /// The bytes of the next element; nil after the last.
    public mutating func next() -> Range<Int>? {
        guard !isAtEnd else { return nil }
        let start = scanner.position
        // The text was validated when the array was found.
        guard (try? scanner.skipValue()) != nil else {
            isAtEnd = true
            return nil
        }
        let end = scanner.position
        scanner.skipWhitespace()
        isAtEnd = scanner.peek() != 0x2C
        scanner.position += 1
        scanner.skipWhitespace()
        return start..<end
    }
}
