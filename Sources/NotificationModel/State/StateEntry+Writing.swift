extension StateEntry {
    /// Appends the entry's JSON; what a restore looks at first comes first.
    public func write(to out: inout [UInt8]) {
        var object = JSONObjectWriter()
        object.member("form", Int64(Self.currentForm), &out)
        object.member("touched", touched, &out)
        object.member("due", dueAfterRestart, &out)
        object.member("offset", appliedThrough, &out)
        if life > 0 { object.member("life", life, &out) }
        if let version {
            object.begin("version", &out)
            var inner = JSONObjectWriter()
            inner.member("number", version.number, &out)
            inner.member("by", version.by, &out)
            inner.end(&out)
        }
        if let pending {
            object.begin("pending", &out)
            pending.write(to: &out)
        }
        if let sending {
            object.begin("sending", &out)
            sending.write(to: &out)
        }
        if let delivered {
            object.begin("delivered", &out)
            var inner = JSONObjectWriter()
            inner.member("requestId", delivered.requestID, &out)
            inner.member("occurrence", delivered.occurrence, &out)
            inner.member("at", delivered.at, &out)
            inner.end(&out)
        }
        writeKnown(&object, &out)
        writeRemovals(&object, &out)
        object.end(&out)
    }

    /// The entry's JSON.
    public var json: [UInt8] {
        var out: [UInt8] = []
        // What is around the content is some 400 bytes: growing would copy all of it.
        out.reserveCapacity(512 + (pending?.content.count ?? 0) + (sending?.content?.count ?? 0) + 32 * known.count)
        write(to: &out)
        return out
    }

    /// Ids that are UUIDs go packed, 32 characters each: there may be many, and they are written again and again.
    private func writeKnown(_ object: inout JSONObjectWriter, _ out: inout [UInt8]) {
        guard !known.isEmpty else { return }
        object.begin("known", &out)
        out.append(0x22)
        var hasTexts = false
        for request in known {
            guard case .uuid(let id) = request.id else {
                hasTexts = true
                continue
            }
            PackedKnownRequest.write(id, request.closed, to: &out)
        }
        out.append(0x22)
        guard hasTexts else { return }
        object.begin("knownTexts", &out)
        var separator: UInt8 = 0x5B
        for request in known {
            guard case .text = request.id else { continue }
            out.append(separator)
            separator = 0x2C
            var inner = JSONObjectWriter()
            inner.member("id", request.id, &out)
            inner.member("closed", request.closed, &out)
            inner.end(&out)
        }
        out.append(0x5D)
    }
}

extension StateEntry {
    private func writeRemovals(_ object: inout JSONObjectWriter, _ out: inout [UInt8]) {
        guard !removals.isEmpty else { return }
        object.begin("removals", &out)
        var separator: UInt8 = 0x5B
        for removal in removals {
            out.append(separator)
            separator = 0x2C
            var inner = JSONObjectWriter()
            inner.member("id", removal.id, &out)
            inner.member("offset", removal.offset, &out)
            inner.member("closed", removal.closed, &out)
            inner.end(&out)
        }
        out.append(0x5D)
    }
}

extension StateEntry.Pending {
    func write(to out: inout [UInt8]) {
        var object = JSONObjectWriter()
        object.member("requestId", requestID, &out)
        object.member("due", due, &out)
        object.begin("timer", &out)
        switch timer {
        case .held: JSONWriter.append("\"held\"", to: &out)
        case .turn: JSONWriter.append("\"turn\"", to: &out)
        case .interval(let schedule, let occurrence):
            var inner = JSONObjectWriter()
            inner.member("interval", schedule.interval, &out)
            inner.member("anchor", schedule.anchor, &out)
            inner.member("occurrence", occurrence, &out)
            if schedule.repeats { inner.member("repeats", true, &out) }
            inner.member("misfire", schedule.misfire?.rawValue, &out)
            if schedule.jitter > 0 { inner.member("jitter", schedule.jitter, &out) }
            inner.end(&out)
        }
        object.member("expiration", expiration, &out)
        if isInDoubt { object.member("inDoubt", true, &out) }
        object.member(trace, &out)
        object.begin("content", &out)
        JSONWriter.append(raw: content, to: &out)
        object.end(&out)
    }
}

extension StateEntry.Sending {
    func write(to out: inout [UInt8]) {
        var object = JSONObjectWriter()
        object.member("requestId", requestID, &out)
        object.member("occurrence", occurrence, &out)
        object.member("attempt", Int64(attempt), &out)
        switch phase {
        case .inFlight(let since): object.member("since", since, &out)
        case .waiting(let until): object.member("until", until, &out)
        }
        object.member("closes", closes, &out)
        object.member("expiration", expiration, &out)
        if isInDoubt { object.member("inDoubt", true, &out) }
        object.member("cancelledBy", cancelledBy, &out)
        object.member("recalledBy", recalledBy, &out)
        object.member(trace, &out)
        if let content {
            object.begin("content", &out)
            JSONWriter.append(raw: content, to: &out)
        }
        object.end(&out)
    }
}

extension JSONObjectWriter {
    mutating func member(_ name: StaticString, _ value: RequestID?, _ out: inout [UInt8]) {
        guard let value else { return }
        begin(name, &out)
        value.writeJSON(to: &out)
    }

    mutating func member(_ trace: CarriedTrace, _ out: inout [UInt8]) {
        func text(_ name: StaticString, _ bytes: [UInt8]?) {
            guard let bytes else { return }
            begin(name, &out)
            bytes.withUnsafeBytes { JSONWriter.append(string: $0, to: &out) }
        }
        text("traceparent", trace.traceparent)
        text("tracestate", trace.tracestate)
    }
}

/// A UUID and an instant in 32 characters of the alphabet of base64url: 192 bits, six at a time.
enum PackedKnownRequest {
    static let characters = 32
    private static let alphabet: StaticString = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

    static func write(_ id: UUIDValue, _ closed: Timestamp, to out: inout [UInt8]) {
        let table = alphabet.utf8Start
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: characters) { buffer in
            var words = (id.high, id.low, UInt64(bitPattern: closed.rawValue))
            // From the last character to the first, the 192 bits shifted right by six.
            for index in stride(from: characters - 1, through: 0, by: -1) {
                buffer[index] = table[Int(words.2 & 63)]
                words.2 = words.2 >> 6 | words.1 << 58
                words.1 = words.1 >> 6 | words.0 << 58
                words.0 >>= 6
            }
            out.append(contentsOf: buffer)
        }
    }

    /// nil for a character that is none of the alphabet's.
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
