/// Writes the members of one object with braces and commas; omits nil values.
package struct JSONObjectWriter {
    private var isFirst = true

    package init() {}

    /// Writes the brace or comma before members; the caller writes the members.
    @inline(__always)
    package mutating func separate(_ out: inout [UInt8]) {
        out.append(isFirst ? 0x7B : 0x2C)
        isFirst = false
    }

    /// Writes a member's name; the caller writes the value.
    @inline(__always)
    package mutating func begin(_ name: FieldName, _ out: inout [UInt8]) {
        separate(&out)
        out.append(0x22)
        out.append(contentsOf: name.bytes.bindMemory(to: UInt8.self))
        out.append(0x22)
        out.append(0x3A)
    }

    /// Writes the name of a field; the caller writes the value.
    @inline(__always)
    package mutating func begin(_ field: some RawRepresentable<FieldName>, _ out: inout [UInt8]) {
        begin(field.rawValue, &out)
    }

    package mutating func member(_ name: FieldName, _ value: (some JSONWritable)?, _ out: inout [UInt8]) {
        guard let value else { return }
        begin(name, &out)
        value.writeJSON(to: &out)
    }

    /// Writes a field and its value.
    @inline(__always)
    package mutating func member(
        _ field: some RawRepresentable<FieldName>,
        _ value: (some JSONWritable)?,
        _ out: inout [UInt8]
    ) {
        member(field.rawValue, value, &out)
    }

    package func end(_ out: inout [UInt8]) {
        if isFirst { out.append(0x7B) }
        out.append(0x7D)
    }
}

/// A value that is written as one JSON value.
package protocol JSONWritable {
    func writeJSON(to out: inout [UInt8])
}

extension String: JSONWritable {
    package func writeJSON(to out: inout [UInt8]) { JSONWriter.append(string: self, to: &out) }
}

extension Bool: JSONWritable {
    package func writeJSON(to out: inout [UInt8]) { JSONWriter.append(bool: self, to: &out) }
}

extension Double: JSONWritable {
    package func writeJSON(to out: inout [UInt8]) { JSONWriter.append(number: self, to: &out) }
}

extension Int64: JSONWritable {
    package func writeJSON(to out: inout [UInt8]) { JSONWriter.append(number: self, to: &out) }
}

extension Timestamp: JSONWritable {
    package func writeJSON(to out: inout [UInt8]) { JSONWriter.append(timestamp: self, to: &out) }
}

extension RequestID: JSONWritable {}

extension Array: JSONWritable where Element: JSONWritable {
    package func writeJSON(to out: inout [UInt8]) {
        out.append(0x5B)
        // In place: a loop over the elements would copy each.
        for index in indices {
            if index > 0 { out.append(0x2C) }
            self[index].writeJSON(to: &out)
        }
        out.append(0x5D)
    }
}
