/// Writes the members of one object with braces and commas; omits nil values.
///
/// `@usableFromInline`: without it other modules call the members instead of inlining them.
@usableFromInline
package struct JSONObjectWriter {
    @usableFromInline
    var isFirst = true

    @inlinable @inline(__always)
    package init() {}

    /// One object.
    package static func object(_ members: (inout JSONObjectWriter, inout [UInt8]) -> Void) -> [UInt8] {
        var (object, out) = (JSONObjectWriter(), [UInt8]())
        members(&object, &out)
        object.end(&out)
        return out
    }

    /// Writes the brace or comma before members; the caller writes the members.
    @inlinable @inline(__always)
    package mutating func separate(_ out: inout [UInt8]) {
        out.append(isFirst ? 0x7B : 0x2C)
        isFirst = false
    }

    /// Writes a member's name; the caller writes the value.
    @inlinable @inline(__always)
    package mutating func begin(_ name: FieldName, _ out: inout [UInt8]) {
        separate(&out)
        out.append(0x22)
        out.append(contentsOf: name.bytes.bindMemory(to: UInt8.self))
        out.append(0x22)
        out.append(0x3A)
    }

    /// Writes the name of a field; the caller writes the value.
    @inlinable @inline(__always)
    package mutating func begin(_ field: some RawRepresentable<FieldName>, _ out: inout [UInt8]) {
        begin(field.rawValue, &out)
    }

    /// Writes a member; omits nil.
    @inlinable @inline(__always)
    package mutating func member(_ name: FieldName, _ value: (some JSONWritable)?, _ out: inout [UInt8]) {
        guard let value else { return }
        begin(name, &out)
        value.writeJSON(to: &out)
    }

    /// Writes a field and its value.
    @inlinable @inline(__always)
    package mutating func member(
        _ field: some RawRepresentable<FieldName>,
        _ value: (some JSONWritable)?,
        _ out: inout [UInt8]
    ) {
        member(field.rawValue, value, &out)
    }

    /// Writes a member that is an array.
    package mutating func array<Element>(
        _ name: FieldName,
        of elements: [Element],
        _ out: inout [UInt8],
        _ write: (Element, inout [UInt8]) -> Void
    ) {
        begin(name, &out)
        out.append(0x5B)
        for (index, element) in elements.enumerated() {
            if index > 0 { out.append(0x2C) }
            write(element, &out)
        }
        out.append(0x5D)
    }

    @inlinable @inline(__always)
    package func end(_ out: inout [UInt8]) {
        if isFirst { out.append(0x7B) }
        out.append(0x7D)
    }
}

/// A value that is written as one JSON value.
@usableFromInline
package protocol JSONWritable {
    func writeJSON(to out: inout [UInt8])
}

extension String: JSONWritable {
    @usableFromInline package func writeJSON(to out: inout [UInt8]) { JSONWriter.append(string: self, to: &out) }
}

extension StaticString: JSONWritable {
    @usableFromInline package func writeJSON(to out: inout [UInt8]) {
        withUTF8Buffer { JSONWriter.append(string: .init($0), to: &out) }
    }
}

extension Bool: JSONWritable {
    @usableFromInline package func writeJSON(to out: inout [UInt8]) { JSONWriter.append(bool: self, to: &out) }
}

extension Double: JSONWritable {
    @usableFromInline package func writeJSON(to out: inout [UInt8]) { JSONWriter.append(number: self, to: &out) }
}

extension Int64: JSONWritable {
    @usableFromInline package func writeJSON(to out: inout [UInt8]) { JSONWriter.append(number: self, to: &out) }
}

extension Timestamp: JSONWritable {
    @usableFromInline package func writeJSON(to out: inout [UInt8]) { JSONWriter.append(timestamp: self, to: &out) }
}

extension RequestID: JSONWritable {}

extension Array: JSONWritable where Element: JSONWritable {
    @usableFromInline package func writeJSON(to out: inout [UInt8]) {
        out.append(0x5B)
        // In place: a loop over the elements would copy each.
        for index in indices {
            if index > 0 { out.append(0x2C) }
            self[index].writeJSON(to: &out)
        }
        out.append(0x5D)
    }
}
