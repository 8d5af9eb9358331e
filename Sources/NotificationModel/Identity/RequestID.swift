/// The id of a request: a UUID, or any text from a caller.
///
/// Only canonical lower-case UUID text takes the inline form, so that every id is written exactly as it was read.
public enum RequestID: Hashable, Sendable {
    /// A UUID, 16 bytes inline.
    case uuid(UUIDValue)
    /// Other text: 1 to 128 bytes of UTF-8 without control characters. Create it with ``init(text:)``, which checks
    /// this.
    case text(String)

    /// Reads an id. Throws `invalid` when it is empty, longer than 128 bytes or contains control characters.
    public init(text: String) throws(ModelError) {
        self = try Array(text.utf8).borrowed { bytes throws(ModelError) in try RequestID(bytes: bytes) }
    }

    /// Reads an id from UTF-8 bytes, as ``init(text:)``; throws `not-utf8` when they are not UTF-8.
    public init(bytes: UnsafeRawBufferPointer) throws(ModelError) {
        if let value = UUIDValue(canonical: bytes) {
            self = .uuid(value)
            return
        }
        guard (1...ModelLimits.requestIDBytes).contains(bytes.count) else {
            throw ModelError(
                .invalid,
                field: "",
                "a request id has 1 to \(ModelLimits.requestIDBytes) bytes, this one \(bytes.count)"
            )
        }
        guard UTF8Validation.isValid(bytes) else {
            throw ModelError(.notUTF8, field: "", "the request id is not UTF-8")
        }
        guard PercentEncoding.firstControlCharacter(in: bytes) == nil else {
            throw ModelError(.invalid, field: "", "a request id must not contain control characters")
        }
        self = .text(String(decoding: bytes, as: UTF8.self))
    }

    /// A random id (UUID version 4).
    public static func random(using generator: inout some RandomNumberGenerator) -> RequestID {
        let high = generator.next() & 0xFFFF_FFFF_FFFF_0FFF | 0x4000
        let low = generator.next() & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        return .uuid(UUIDValue(high: high, low: low))
    }

    /// A random id (UUID version 4) from the system's generator.
    public static func random() -> RequestID {
        var generator = SystemRandomNumberGenerator()
        return random(using: &generator)
    }

    /// Appends the id's text, not escaped and without quotes.
    public func write(to out: inout [UInt8]) {
        switch self {
        case .uuid(let value): value.write(to: &out)
        case .text(let text): out.append(contentsOf: text.utf8)
        }
    }

    /// Appends the id as a JSON string.
    @usableFromInline package func writeJSON(to out: inout [UInt8]) {
        switch self {
        case .uuid(let value):
            out.append(0x22)
            value.write(to: &out)
            out.append(0x22)
        case .text(let text):
            JSONWriter.append(string: text, to: &out)
        }
    }

    /// Texts are the same id only if their bytes are equal; Unicode equivalence would merge two ids.
    public static func == (left: RequestID, right: RequestID) -> Bool {
        switch (left, right) {
        case (.uuid(let left), .uuid(let right)): left == right
        case (.text(let left), .text(let right)): left.utf8.elementsEqual(right.utf8)
        default: false
        }
    }

    /// Hashes the bytes, as equality compares them.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .uuid(let value):
            hasher.combine(value)
        case .text(let text):
            for byte in text.utf8 { hasher.combine(byte) }
        }
    }
}

extension RequestID: CustomStringConvertible {
    /// The id's text.
    public var description: String {
        switch self {
        case .uuid(let value): value.description
        case .text(let text): text
        }
    }
}

extension RequestID: Codable {
    /// Reads a string and checks it as ``init(text:)``.
    public init(from decoder: any Decoder) throws {
        try self.init(text: decoder.singleValueContainer().decode(String.self))
    }

    /// Writes a string.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
