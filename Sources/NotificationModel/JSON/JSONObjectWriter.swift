/// Writes the members of one object, taking care of braces and commas; what is nil is left out.
struct JSONObjectWriter {
    private var isFirst = true

    mutating func begin(_ name: StaticString, _ out: inout [UInt8]) {
        out.append(isFirst ? 0x7B : 0x2C)
        isFirst = false
        out.append(0x22)
        JSONWriter.append(name, to: &out)
        out.append(0x22)
        out.append(0x3A)
    }

    mutating func member(_ name: StaticString, _ value: String?, _ out: inout [UInt8]) {
        guard let value else { return }
        begin(name, &out)
        JSONWriter.append(string: value, to: &out)
    }

    mutating func member(_ name: StaticString, _ value: Bool?, _ out: inout [UInt8]) {
        guard let value else { return }
        begin(name, &out)
        JSONWriter.append(bool: value, to: &out)
    }

    mutating func member(_ name: StaticString, _ value: Double?, _ out: inout [UInt8]) {
        guard let value else { return }
        begin(name, &out)
        JSONWriter.append(number: value, to: &out)
    }

    mutating func member(_ name: StaticString, _ value: Int64?, _ out: inout [UInt8]) {
        guard let value else { return }
        begin(name, &out)
        JSONWriter.append(number: value, to: &out)
    }

    mutating func member(_ name: StaticString, _ value: Timestamp?, _ out: inout [UInt8]) {
        guard let value else { return }
        begin(name, &out)
        JSONWriter.append(timestamp: value, to: &out)
    }

    func end(_ out: inout [UInt8]) {
        if isFirst { out.append(0x7B) }
        out.append(0x7D)
    }
}
