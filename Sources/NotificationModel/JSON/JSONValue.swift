/// Any JSON value. An object keeps the order of its members, a number its text.
public enum JSONValue: Hashable, Sendable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number as it was written.
    case number(String)
    /// A string, escapes resolved.
    case string(String)
    /// An array.
    case array([JSONValue])
    /// An object's members in order. Parsed names may repeat; lookups return the last.
    case object([Member])

    /// A member of an object.
    public struct Member: Hashable, Sendable {
        /// The member's name, escapes resolved.
        public var name: String
        /// The member's value.
        public var value: JSONValue

        /// A member.
        public init(_ name: String, _ value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    /// Parses one JSON text. Throws `invalid` on bad grammar or too deep nesting, `not-utf8` on bad UTF-8.
    ///
    /// - Parameters:
    ///   - bytes: the whole text; white space around the value is allowed
    ///   - maximumDepth: levels of nested objects and arrays
    public static func parse(
        _ bytes: [UInt8],
        maximumDepth: Int = ModelLimits.depth
    ) throws(ModelError) -> JSONValue {
        try bytes.borrowed { buffer throws(ModelError) in
            try parse(buffer, maximumDepth: maximumDepth)
        }
    }

    /// Parses a slice, as ``parse(_:maximumDepth:)-([UInt8],_)``.
    public static func parse(
        _ bytes: ArraySlice<UInt8>,
        maximumDepth: Int = ModelLimits.depth
    ) throws(ModelError) -> JSONValue {
        try bytes.borrowed { buffer throws(ModelError) in
            try parse(buffer, maximumDepth: maximumDepth)
        }
    }

    /// Parses borrowed bytes, as ``parse(_:maximumDepth:)-([UInt8],_)``.
    public static func parse(
        _ bytes: UnsafeRawBufferPointer,
        maximumDepth: Int = ModelLimits.depth
    ) throws(ModelError) -> JSONValue {
        var scanner = JSONScanner(bytes, maximumDepth: maximumDepth)
        return try scanner.whole { scanner throws(ModelError) in try scanner.value() }
    }

    /// The member of an object with this name, the last if there are several; nil when there is none.
    public subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.last { $0.name == name }?.value
    }

    /// The element of an array; nil when there is none.
    public subscript(index: Int) -> JSONValue? {
        guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
        return elements[index]
    }

    /// Follows a path of member names and array indices; nil when a step does not exist.
    public func value(at path: [String]) -> JSONValue? {
        var current = self
        for step in path {
            switch current {
            case .object:
                guard let next = current[step] else { return nil }
                current = next
            case .array:
                guard let index = Int(step), let next = current[index] else { return nil }
                current = next
            default:
                return nil
            }
        }
        return current
    }

    /// Follows a dotted path such as `data.items.0.name`; an empty path is the value itself.
    public func value(at dottedPath: String) -> JSONValue? {
        guard !dottedPath.isEmpty else { return self }
        return value(at: dottedPath.split(separator: ".", omittingEmptySubsequences: false).map(String.init))
    }
}

extension JSONValue {
    /// The text of a string.
    public var stringValue: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The value of a boolean.
    public var boolValue: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The value of a number without fraction and exponent that fits.
    public var integerValue: Int64? {
        if case .number(let text) = self { Int64(text) } else { nil }
    }

    /// The value of a finite number.
    public var doubleValue: Double? {
        guard case .number(let text) = self, let value = Double(text), value.isFinite else { return nil }
        return value
    }

    /// The elements of an array.
    public var arrayValue: [JSONValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    /// The members of an object.
    public var objectValue: [Member]? {
        if case .object(let members) = self { members } else { nil }
    }

    /// Appends the value as JSON without white space.
    public func write(to out: inout [UInt8]) {
        switch self {
        case .null: JSONWriter.append("null", to: &out)
        case .bool(let value): JSONWriter.append(bool: value, to: &out)
        case .number(let text): out.append(contentsOf: text.utf8)
        case .string(let text): JSONWriter.append(string: text, to: &out)
        case .array(let elements):
            out.append(0x5B)
            for (index, element) in elements.enumerated() {
                if index > 0 { out.append(0x2C) }
                element.write(to: &out)
            }
            out.append(0x5D)
        case .object(let members):
            out.append(0x7B)
            for (index, member) in members.enumerated() {
                if index > 0 { out.append(0x2C) }
                JSONWriter.append(string: member.name, to: &out)
                out.append(0x3A)
                member.value.write(to: &out)
            }
            out.append(0x7D)
        }
    }

    /// The value as JSON without white space.
    public var json: [UInt8] {
        var out: [UInt8] = []
        write(to: &out)
        return out
    }
}

extension JSONScanner {
    /// Builds the next value.
    package mutating func value() throws(ModelError) -> JSONValue {
        switch peek() {
        case 0x22:
            return .string(materialise(try text()))
        case 0x7B:
            var members: [JSONValue.Member] = []
            try object { scanner, key throws(ModelError) in
                let name = scanner.materialise(key)
                members.append(JSONValue.Member(name, try scanner.value()))
            }
            return .object(members)
        case 0x5B:
            var elements: [JSONValue] = []
            try array { scanner, _ throws(ModelError) in elements.append(try scanner.value()) }
            return .array(elements)
        case 0x2D, 0x30...0x39:
            let token = try numberToken()
            return .number(String(decoding: bytes[token.start..<token.end], as: UTF8.self))
        case 0x74, 0x66:
            return .bool(try boolean())
        case 0x6E:
            try literal("null")
            return .null
        default:
            throw grammar("expected a value")
        }
    }
}
