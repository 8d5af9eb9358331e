extension JSONScanner {
    /// Copies the next value in its shortest form: without white space, and without escapes that JSON does not require.
    ///
    /// The text of numbers and the order of members stay.
    public mutating func copyValue(to out: inout [UInt8]) throws(ModelError) {
        switch peek() {
        case 0x22:
            copy(try text(), to: &out)
        case 0x7B:
            var isFirst = true
            out.append(0x7B)
            try object { scanner, name throws(ModelError) in
                if !isFirst { out.append(0x2C) }
                isFirst = false
                scanner.copy(name, to: &out)
                out.append(0x3A)
                try scanner.copyValue(to: &out)
            }
            out.append(0x7D)
        case 0x5B:
            out.append(0x5B)
            try array { scanner, index throws(ModelError) in
                if index > 0 { out.append(0x2C) }
                try scanner.copyValue(to: &out)
            }
            out.append(0x5D)
        default:
            let start = position
            try skipValue()
            out.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[start..<position]))
        }
    }

    /// Copies a scanned string with its quotes, in its shortest form.
    public func copy(_ text: JSONStringToken, to out: inout [UInt8]) {
        out.append(0x22)
        if text.isEscaped {
            forEachPiece(of: text) {
                JSONWriter.append(escaping: $0, to: &out)
            } escape: {
                JSONWriter.append(escaping: $0, to: &out)
            }
        } else {
            out.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[text.start..<text.end]))
        }
        out.append(0x22)
    }
}
