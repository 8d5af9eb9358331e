/// Where a value lies in a JSON text that ``JSONPathSet`` has passed over; nothing of it is copied.
public struct JSONMatch: Sendable, Hashable {
    /// What lies there.
    public enum Kind: UInt8, Sendable {
        /// Nothing: the path leads nowhere.
        case missing
        /// The literals.
        case null, `false`, `true`
        /// The values with bytes of their own.
        case number, string, array, object
    }

    /// What was found.
    public let kind: Kind
    /// A string has escapes, so its bytes are not its text.
    public let isEscaped: Bool
    private let start: Int
    private let end: Int

    /// Nothing.
    public static let missing = JSONMatch(.missing, 0, 0)

    init(_ kind: Kind, _ start: Int, _ end: Int, isEscaped: Bool = false) {
        self.kind = kind
        self.start = start
        self.end = end
        self.isEscaped = isEscaped
    }

    /// The value's bytes; those of a string are without its quotes, escapes untouched.
    public var range: Range<Int> { start..<end }

    /// Calls the body with the text of a string, escapes resolved, or with the spelling of any other value.
    ///
    /// - Parameter bytes: The text that was passed over.
    @inline(__always)
    public func withText<Result>(in bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Result) -> Result
    {
        if isEscaped {
            return JSONScanner(bytes).unescaped(JSONText(start: start, end: end, isEscaped: true))
                .withUnsafeBytes(body)
        }
        return body(UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
    }

    /// Appends the value as JSON, spelt as it was; nothing when there is none.
    public func appendJSON(in bytes: UnsafeRawBufferPointer, to out: inout [UInt8]) {
        if kind == .string { out.append(0x22) }
        out.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
        if kind == .string { out.append(0x22) }
    }
}

/// The elements of an array that ``JSONPathSet`` has found, one after another.
public struct JSONElements {
    private var scanner: JSONScanner
    private var isAtEnd: Bool

    /// Begins with the first element.
    ///
    /// - Parameters:
    ///   - match: An array; anything else has no elements.
    ///   - bytes: The text that was passed over; it must live as long as this.
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
        // The text was checked when the array was found.
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
