package import NotificationModel

extension StateEntry {
    /// A closed request or removal.
    package struct KnownRequest: Sendable, Hashable {
        /// Its id.
        package var id: RequestID
        /// When it closed.
        package var closed: Timestamp

        /// A closed request.
        package init(id: RequestID, closed: Timestamp) {
            (self.id, self.closed) = (id, closed)
        }
    }
}

extension StateEntry.KnownRequest: StatePart {
    var form: Int { 1 }
}

// UUIDs are packed, 32 characters each, into one string: there may be many, and every change of the entry writes them.
extension StateEntry.KnownRequest {
    /// Appends the UUIDs as one JSON string.
    ///
    /// - Returns: whether there are other ids, for ``writeTexts(_:to:)``.
    static func writePacked(_ known: [Self], to out: inout [UInt8]) -> Bool {
        var hasTexts = false
        out.append(0x22)
        for request in known {
            guard case .uuid(let id) = request.id else {
                hasTexts = true
                continue
            }
            Packed.write(id, request.closed, to: &out)
        }
        out.append(0x22)
        return hasTexts
    }

    /// Reads the output of ``writePacked(_:to:)``.
    static func readPacked(_ scanner: inout JSONScanner, into known: inout [Self]) throws(ModelError) {
        let text = try scanner.string()
        let size = Packed.characters
        try scanner.withBytes(text) { [scanner] bytes throws(ModelError) in
            guard bytes.count % size == 0 else { throw scanner.value("must be \(size) characters for each id") }
            known.reserveCapacity(known.count + bytes.count / size)
            for start in stride(from: 0, to: bytes.count, by: size) {
                guard let request = Packed.read(bytes, at: start) else {
                    throw scanner.value("must use the base64url alphabet")
                }
                known.append(request)
            }
        }
    }

    /// A UUID and an instant in 32 base64url characters: 192 bits, six at a time.
    private enum Packed {
        static let characters = 32
        private static let alphabet: StaticString = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

        static func write(_ id: UUIDValue, _ closed: Timestamp, to out: inout [UInt8]) {
            let table = alphabet.utf8Start
            withUnsafeTemporaryAllocation(of: UInt8.self, capacity: characters) { buffer in
                var words = (id.high, id.low, UInt64(bitPattern: closed.rawValue))
                // From the last character to the first, shifting the 192 bits right by six.
                for index in stride(from: characters - 1, through: 0, by: -1) {
                    buffer[index] = table[Int(words.2 & 63)]
                    words.2 = words.2 >> 6 | words.1 << 58
                    words.1 = words.1 >> 6 | words.0 << 58
                    words.0 >>= 6
                }
                out.append(contentsOf: buffer)
            }
        }

        /// nil for a character outside the alphabet.
        static func read(_ bytes: UnsafeRawBufferPointer, at start: Int) -> StateEntry.KnownRequest? {
            var words: (UInt64, UInt64, UInt64) = (0, 0, 0)
            for index in start..<start + characters {
                let bits: UInt64
                switch bytes[index] {
                case let byte where byte >= 0x41 && byte <= 0x5A: bits = UInt64(byte &- 0x41)
                case let byte where byte >= 0x61 && byte <= 0x7A: bits = UInt64(byte &- 0x61 &+ 26)
                case let byte where byte >= 0x30 && byte <= 0x39: bits = UInt64(byte &- 0x30 &+ 52)
                case 0x2D: bits = 62
                case 0x5F: bits = 63
                default: return nil
                }
                words.0 = words.0 << 6 | words.1 >> 58
                words.1 = words.1 << 6 | words.2 >> 58
                words.2 = words.2 << 6 | bits
            }
            let id = UUIDValue(high: words.0, low: words.1)
            return .init(id: .uuid(id), closed: Timestamp(rawValue: Int64(bitPattern: words.2)))
        }
    }
}

// Ids that are not UUIDs are objects.
extension StateEntry.KnownRequest {
    private enum Field: FieldName {
        case id, closed
    }

    /// Appends the ids that are not UUIDs as a JSON array.
    static func writeTexts(_ known: [Self], to out: inout [UInt8]) {
        var separator: UInt8 = 0x5B
        for request in known {
            guard case .text = request.id else { continue }
            out.append(separator)
            separator = 0x2C
            var object = JSONObjectWriter()
            object.member(Field.id, request.id, &out)
            object.member(Field.closed, request.closed, &out)
            object.end(&out)
        }
        out.append(0x5D)
    }

    /// Reads the output of ``writeTexts(_:to:)``.
    static func readTexts(_ scanner: inout JSONScanner, into known: inout [Self]) throws(ModelError) {
        try scanner.array { scanner, _ throws(ModelError) in
            var (id, closed): (RequestID?, Timestamp?)
            try scanner.object(of: Field.self, from: .state) { scanner, field throws(ModelError) in
                switch field {
                case .id: id = try scanner.requestID()
                case .closed: closed = try scanner.timestamp()
                }
            }
            known.append(
                .init(id: try scanner.required(id, Field.id), closed: try scanner.required(closed, Field.closed))
            )
        }
    }
}
