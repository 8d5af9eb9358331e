/// A string in the scanned text: the bytes between the quotes, escapes untouched.
public struct JSONStringToken {
    /// Where it begins in the scanned bytes, after its quote.
    public let start: Int
    /// Where it ends in the scanned bytes, before its quote.
    public let end: Int
    /// Whether it has escapes.
    public let isEscaped: Bool

    /// Its bytes, escapes untouched.
    public var count: Int { end - start }
}

/// Scans JSON bytes in one pass with the full grammar of RFC 8259, building nothing.
///
/// It lives only as long as the borrowed bytes. An explicit comparison with the count guards every access, so no input
/// can read past the end. Grammar errors have no field. Errors about a value have the field `""`, which the enclosing
/// objects and arrays extend to a dotted path.
///
/// It is public for speed: the compiler inlines and specializes nothing that is `package` in another module.
public struct JSONScanner {
    /// The scanned bytes, borrowed.
    public let bytes: UnsafeRawBufferPointer
    /// How many there are.
    public let count: Int
    /// How many objects and arrays may be within each other.
    public let maximumDepth: Int
    /// The next byte.
    public var position = 0
    /// Objects and arrays that are open.
    public var depth = 0
    /// The scanner passed bytes with the high bit set: the text must then be checked to be UTF-8.
    public var sawNonASCII = false

    /// A scanner at the first byte.
    public init(_ bytes: UnsafeRawBufferPointer, maximumDepth: Int = ModelLimits.depth) {
        self.bytes = bytes
        count = bytes.count
        self.maximumDepth = maximumDepth
    }

    /// The next byte, or 0 at the end; 0 is valid nowhere in JSON.
    @inlinable @inline(__always)
    public func peek() -> UInt8 {
        position < count ? bytes[position] : 0
    }

    /// Passes over spaces, tabs and line ends.
    @inlinable @inline(__always)
    public mutating func skipWhitespace() {
        while position < count {
            let byte = bytes[position]
            guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return }
            position &+= 1
        }
    }

    /// Scans the whole text: white space, one value by the body, white space, the end.
    @inlinable @inline(__always)
    public mutating func whole<Result>(
        _ body: (inout JSONScanner) throws(ModelError) -> Result
    ) throws(ModelError) -> Result {
        let result: Result
        do throws(ModelError) {
            skipWhitespace()
            result = try body(&self)
            skipWhitespace()
            guard position == count else { throw grammar("expected the end") }
        } catch {
            throw ofWhole(error)
        }
        if sawNonASCII { try checkEncoding() }
        return result
    }

    /// Scans an object, the body consuming the value of each member.
    @inlinable @inline(__always)
    public mutating func object(
        _ member: (inout JSONScanner, JSONStringToken) throws(ModelError) -> Void
    ) throws(ModelError) {
        guard peek() == 0x7B else { throw unexpected("an object") }
        try enter()
        if peek() == 0x7D {
            leave()
            return
        }
        while true {
            let key = try name()
            do throws(ModelError) {
                try member(&self, key)
            } catch {
                throw error.inside(label(key))
            }
            skipWhitespace()
            let byte = peek()
            if byte == 0x2C {
                position &+= 1
                skipWhitespace()
            } else if byte == 0x7D {
                leave()
                return
            } else {
                throw grammar("expected ',' or '}'")
            }
        }
    }

    /// Scans an array, the body consuming each element with its index.
    @inlinable @inline(__always)
    public mutating func array(
        _ element: (inout JSONScanner, Int) throws(ModelError) -> Void
    ) throws(ModelError) {
        guard peek() == 0x5B else { throw unexpected("an array") }
        try enter()
        if peek() == 0x5D {
            leave()
            return
        }
        var index = 0
        while true {
            do throws(ModelError) {
                try element(&self, index)
            } catch {
                throw error.inside(String(index))
            }
            index &+= 1
            skipWhitespace()
            let byte = peek()
            if byte == 0x2C {
                position &+= 1
                skipWhitespace()
            } else if byte == 0x5D {
                leave()
                return
            } else {
                throw grammar("expected ',' or ']'")
            }
        }
    }

    /// A member's name, its colon and the white space around it.
    @inlinable @inline(__always)
    mutating func name() throws(ModelError) -> JSONStringToken {
        guard peek() == 0x22 else { throw grammar("expected the name of a member") }
        let key = try text()
        skipWhitespace()
        guard peek() == 0x3A else { throw grammar("expected ':'") }
        position &+= 1
        skipWhitespace()
        return key
    }

    @inlinable @inline(__always)
    mutating func enter() throws(ModelError) {
        guard depth < maximumDepth else {
            throw ModelError(.invalid, field: "", "nested deeper than \(maximumDepth) levels (byte \(position))")
        }
        depth &+= 1
        position &+= 1
        skipWhitespace()
    }

    @inlinable @inline(__always)
    mutating func leave() {
        depth &-= 1
        position &+= 1
    }

    /// Skips any value, checking its grammar.
    public mutating func skipValue() throws(ModelError) {
        switch peek() {
        case 0x22:
            _ = try text()
        case 0x7B:
            try enter()
            if peek() == 0x7D { return leave() }
            while true {
                _ = try name()
                try skipValue()
                skipWhitespace()
                let byte = peek()
                position &+= 1
                if byte == 0x2C {
                    skipWhitespace()
                } else if byte == 0x7D {
                    depth &-= 1
                    return
                } else {
                    position &-= 1
                    throw grammar("expected ',' or '}'")
                }
            }
        case 0x5B:
            try enter()
            if peek() == 0x5D { return leave() }
            while true {
                try skipValue()
                skipWhitespace()
                let byte = peek()
                position &+= 1
                if byte == 0x2C {
                    skipWhitespace()
                } else if byte == 0x5D {
                    depth &-= 1
                    return
                } else {
                    position &-= 1
                    throw grammar("expected ',' or ']'")
                }
            }
        case 0x74:
            try literal("true")
        case 0x66:
            try literal("false")
        case 0x6E:
            try literal("null")
        case 0x2D, 0x30...0x39:
            _ = try numberToken()
        default:
            throw grammar("expected a value")
        }
    }

    /// Scans a word: `true`, `false` or `null`.
    public mutating func literal(_ word: StaticString) throws(ModelError) {
        guard position + word.utf8CodeUnitCount <= count, matches(position, position + word.utf8CodeUnitCount, word)
        else {
            throw grammar("expected a value")
        }
        position += word.utf8CodeUnitCount
    }

    /// True when the bytes in a range that lies inside the text are those of the word.
    @inlinable @inline(__always)
    public func matches(_ start: Int, _ end: Int, _ word: StaticString) -> Bool {
        guard end &- start == word.utf8CodeUnitCount else { return false }
        let pointer = word.utf8Start
        for index in 0..<word.utf8CodeUnitCount where bytes[start &+ index] != pointer[index] {
            return false
        }
        return true
    }
}

extension JSONScanner {
    /// An error of the grammar, at the next byte.
    public func grammar(_ expected: String) -> ModelError {
        guard position < count else {
            return ModelError(.invalid, "not JSON: the text ends at byte \(count), \(expected)")
        }
        return ModelError(.invalid, "not JSON at byte \(position): \(expected)")
    }

    @usableFromInline
    func checkEncoding() throws(ModelError) {
        guard UTF8Validation.isValid(bytes) else { throw ModelError(.notUTF8, "the text is not UTF-8") }
    }

    /// The error of the whole text: one of the encoding takes precedence over any other.
    @usableFromInline
    func ofWhole(_ error: ModelError) -> ModelError {
        if error.reason != .tooLarge {
            do throws(ModelError) { try checkEncoding() } catch { return error }
        }
        return error.field == "" ? ModelError(error.reason, error.detail) : error
    }

    /// The error for a value of another type, or for a missing value.
    public func unexpected(_ expected: String) -> ModelError {
        let found: String
        switch peek() {
        case 0x22: found = "a string"
        case 0x7B: found = "an object"
        case 0x5B: found = "an array"
        case 0x74, 0x66: found = "a boolean"
        case 0x6E: found = "null (leave the field out instead)"
        case 0x2D, 0x30...0x39: found = "a number"
        default: return grammar("expected \(expected)")
        }
        return ModelError(.invalid, field: "", "must be \(expected), found \(found)")
    }

    /// A member's name for a path: decoded, and cut because it is untrusted.
    public func label(_ key: JSONStringToken) -> String {
        let name = materialise(key)
        return name.utf8.count <= 64 ? name : String(decoding: name.utf8.prefix(64), as: UTF8.self) + "…"
    }
}
