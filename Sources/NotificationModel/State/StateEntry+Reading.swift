extension StateEntry {
    /// What a restore needs of an entry before it is used.
    public struct Head: Sendable, Hashable {
        /// When it was last applied to.
        public var touched: Timestamp
        /// When it wants to be looked at; nil when nothing is pending.
        public var due: Timestamp?
    }

    /// Reads an entry; unknown fields are passed over.
    ///
    /// Throws `unsupported-form` when it is of a newer form, `invalid` with the field when something is missing or wrong.
    public init(json: [UInt8]) throws(ModelError) {
        self = try json.borrowed { bytes throws(ModelError) in
            var scanner = JSONScanner(bytes, maximumDepth: ModelLimits.depth + 4)
            return try scanner.whole { scanner throws(ModelError) in try scanner.stateEntry(json) }
        }
    }

    /// Reads the head alone, without building anything. Throws as ``init(json:)``.
    public static func head(of json: [UInt8]) throws(ModelError) -> Head {
        try json.borrowed { bytes throws(ModelError) in
            var scanner = JSONScanner(bytes, maximumDepth: ModelLimits.depth + 4)
            return try scanner.whole { scanner throws(ModelError) in
                var head = Head(touched: Timestamp(rawValue: 0))
                var form: Int64 = 0
                try scanner.object { scanner, name throws(ModelError) in
                    switch try scanner.stateField(name) {
                    case .form: form = try scanner.integer(in: 1...Int64.max)
                    case .touched: head.touched = try scanner.timestamp()
                    case .due: head.due = try scanner.timestamp()
                    default: try scanner.skipValue()
                    }
                }
                try checkForm(form)
                return head
            }
        }
    }

    static func checkForm(_ form: Int64, field: String = "form") throws(ModelError) {
        guard form > 0 else { throw ModelError(.invalid, field: field, "is missing") }
        guard form <= Int64(currentForm) else {
            throw ModelError(
                .unsupportedForm,
                field: field,
                "the entry has form \(form), this version reads up to \(currentForm): upgrade before you start"
            )
        }
    }
}

/// Every field of an entry and of what is in it; one list, since no name means two things.
private enum StateField: UInt8 {
    case form, touched, due, offset, version, pending, sending, delivered, known, knownTexts, removals, life
    case number, by, requestId, at, id, closed, timer, expiration, inDoubt, traceparent, tracestate, content
    case interval, anchor, occurrence, repeats, misfire, jitter
    case attempt, since, until, closes, cancelledBy, recalledBy

    static func named(_ name: FieldName) -> StateField? {
        switch name {
        case "form": .form
        case "touched": .touched
        case "due": .due
        case "offset": .offset
        case "version": .version
        case "pending": .pending
        case "sending": .sending
        case "delivered": .delivered
        case "known": .known
        case "knownTexts": .knownTexts
        case "removals": .removals
        case "life": .life
        case "number": .number
        case "by": .by
        case "requestId": .requestId
        case "at": .at
        case "id": .id
        case "closed": .closed
        case "timer": .timer
        case "expiration": .expiration
        case "inDoubt": .inDoubt
        case "traceparent": .traceparent
        case "tracestate": .tracestate
        case "content": .content
        case "interval": .interval
        case "anchor": .anchor
        case "occurrence": .occurrence
        case "repeats": .repeats
        case "misfire": .misfire
        case "jitter": .jitter
        case "attempt": .attempt
        case "since": .since
        case "until": .until
        case "closes": .closes
        case "cancelledBy": .cancelledBy
        case "recalledBy": .recalledBy
        default: nil
        }
    }
}

extension JSONScanner {
    fileprivate mutating func stateField(_ name: JSONText) throws(ModelError) -> StateField? {
        try field(name, StateField.named)
    }

    /// - Parameter source: what is scanned, for the slices of it that are kept.
    fileprivate mutating func stateEntry(_ source: [UInt8]) throws(ModelError) -> StateEntry {
        var entry = StateEntry()
        var form: Int64 = 0
        try object { scanner, name throws(ModelError) in
            switch try scanner.stateField(name) {
            case .form:
                form = try scanner.integer(in: 1...Int64.max)
                // Before a field that has another meaning in the newer form is called wrong.
                try StateEntry.checkForm(form, field: "")
            case .touched: entry.touched = try scanner.timestamp()
            case .offset: entry.appliedThrough = try scanner.integer(in: -1...Int64.max)
            case .life: entry.life = try scanner.integer(in: 0...Int64.max)
            case .version: entry.version = try scanner.stateVersion()
            case .pending: entry.pending = try scanner.statePending(source)
            case .sending: entry.sending = try scanner.stateSending(source)
            case .delivered: entry.delivered = try scanner.stateDelivered()
            case .known: entry.known.append(contentsOf: try scanner.packedKnown())
            case .knownTexts: entry.known.append(contentsOf: try scanner.knownTexts())
            case .removals: entry.removals = try scanner.knownRemovals()
            default: try scanner.skipValue()
            }
        }
        try StateEntry.checkForm(form)
        if entry.known.contains(where: { if case .text = $0.id { true } else { false } }) {
            entry.known.sort { $0.closed < $1.closed }
        }
        return entry
    }

    private mutating func stateVersion() throws(ModelError) -> StateEntry.Version {
        var (number, by): (Int64?, RequestID?)
        try object { scanner, name throws(ModelError) in
            switch try scanner.stateField(name) {
            case .number: number = try scanner.integer(in: 0...Int64.max)
            case .by: by = try scanner.requestID()
            default: try scanner.skipValue()
            }
        }
        guard let number else { throw missing("number") }
        guard let by else { throw missing("by") }
        return .init(number: number, by: by)
    }

    private mutating func stateDelivered() throws(ModelError) -> StateEntry.Delivered {
        var (id, occurrence, at): (RequestID?, Timestamp?, Timestamp?)
        try object { scanner, name throws(ModelError) in
            switch try scanner.stateField(name) {
            case .requestId: id = try scanner.requestID()
            case .occurrence: occurrence = try scanner.timestamp()
            case .at: at = try scanner.timestamp()
            default: try scanner.skipValue()
            }
        }
        guard let id else { throw missing("requestId") }
        guard let at else { throw missing("at") }
        return .init(requestID: id, occurrence: occurrence, at: at)
    }

    private mutating func packedKnown() throws(ModelError) -> [StateEntry.KnownRequest] {
        let text = try string()
        let size = PackedKnownRequest.characters
        return try withBytes(text) { bytes throws(ModelError) in
            guard bytes.count % size == 0 else { throw value("must be \(size) characters for each id") }
            var known: [StateEntry.KnownRequest] = []
            known.reserveCapacity(bytes.count / size)
            for start in stride(from: 0, to: bytes.count, by: size) {
                guard let request = PackedKnownRequest.read(bytes, at: start) else {
                    throw value("must be in the alphabet of base64url")
                }
                known.append(request)
            }
            return known
        }
    }

    private mutating func knownTexts() throws(ModelError) -> [StateEntry.KnownRequest] {
        var known: [StateEntry.KnownRequest] = []
        try array { scanner, _ throws(ModelError) in
            var (id, closed): (RequestID?, Timestamp?)
            try scanner.object { scanner, name throws(ModelError) in
                switch try scanner.stateField(name) {
                case .id: id = try scanner.requestID()
                case .closed: closed = try scanner.timestamp()
                default: try scanner.skipValue()
                }
            }
            guard let id else { throw scanner.missing("id") }
            guard let closed else { throw scanner.missing("closed") }
            known.append(.init(id: id, closed: closed))
        }
        return known
    }

    private mutating func knownRemovals() throws(ModelError) -> [StateEntry.KnownRemoval] {
        var known: [StateEntry.KnownRemoval] = []
        try array { scanner, _ throws(ModelError) in
            var (id, offset, closed): (RequestID?, Int64?, Timestamp?)
            try scanner.object { scanner, name throws(ModelError) in
                switch try scanner.stateField(name) {
                case .id: id = try scanner.requestID()
                case .offset: offset = try scanner.integer(in: -1...Int64.max)
                case .closed: closed = try scanner.timestamp()
                default: try scanner.skipValue()
                }
            }
            guard let id else { throw scanner.missing("id") }
            guard let offset else { throw scanner.missing("offset") }
            guard let closed else { throw scanner.missing("closed") }
            known.append(.init(id: id, offset: offset, closed: closed))
        }
        return known
    }

    private mutating func statePending(_ source: [UInt8]) throws(ModelError) -> StateEntry.Pending {
        var (id, due, timer): (RequestID?, Timestamp?, StateEntry.Timer?)
        var (content, expiration): (ArraySlice<UInt8>?, Timestamp?)
        var (traceparent, tracestate): ([UInt8]?, [UInt8]?)
        var isInDoubt = false
        try object { scanner, name throws(ModelError) in
            switch try scanner.stateField(name) {
            case .requestId: id = try scanner.requestID()
            case .due: due = try scanner.timestamp()
            case .timer: timer = try scanner.stateTimer()
            case .content: content = try scanner.slice(of: source)
            case .expiration: expiration = try scanner.timestamp()
            case .inDoubt: isInDoubt = try scanner.boolean()
            case .traceparent: traceparent = try scanner.textBytes()
            case .tracestate: tracestate = try scanner.textBytes()
            default: try scanner.skipValue()
            }
        }
        guard let id else { throw missing("requestId") }
        guard let due else { throw missing("due") }
        guard let timer else { throw missing("timer") }
        guard let content else { throw missing("content") }
        return .init(
            requestID: id,
            content: content,
            expiration: expiration,
            trace: CarriedTrace(traceparent: traceparent, tracestate: tracestate),
            timer: timer,
            due: due,
            isInDoubt: isInDoubt
        )
    }

    private mutating func stateTimer() throws(ModelError) -> StateEntry.Timer {
        if peek() == 0x22 {
            switch materialise(try string()) {
            case "held": return .held
            case "turn": return .turn
            default: throw value("must be held, turn or an interval")
            }
        }
        var (anchor, occurrence): (Timestamp?, Timestamp?)
        var schedule = IntervalSchedule(
            interval: 0,
            anchor: Timestamp(rawValue: 0),
            repeats: false,
            misfire: nil,
            jitter: 0
        )
        try object { scanner, name throws(ModelError) in
            switch try scanner.stateField(name) {
            case .interval: schedule.interval = try scanner.integer(in: 1...Int64.max)
            case .anchor: anchor = try scanner.timestamp()
            case .occurrence: occurrence = try scanner.timestamp()
            case .repeats: schedule.repeats = try scanner.boolean()
            case .misfire: schedule.misfire = try scanner.choice(MisfirePolicy.self)
            case .jitter: schedule.jitter = try scanner.integer(in: 0...Int64.max)
            default: try scanner.skipValue()
            }
        }
        guard schedule.interval > 0 else { throw missing("interval") }
        guard let anchor else { throw missing("anchor") }
        guard let occurrence else { throw missing("occurrence") }
        schedule.anchor = anchor
        return .interval(schedule, occurrence: occurrence)
    }

    private mutating func stateSending(_ source: [UInt8]) throws(ModelError) -> StateEntry.Sending {
        var (id, phase): (RequestID?, StateEntry.Sending.Phase?)
        var (traceparent, tracestate): ([UInt8]?, [UInt8]?)
        var sending = StateEntry.Sending(
            requestID: .uuid(UUIDValue(high: 0, low: 0)),
            occurrence: nil,
            content: nil,
            expiration: nil,
            trace: .none,
            closes: false,
            phase: .inFlight(since: Timestamp(rawValue: 0))
        )
        try object { scanner, name throws(ModelError) in
            switch try scanner.stateField(name) {
            case .requestId: id = try scanner.requestID()
            case .occurrence: sending.occurrence = try scanner.timestamp()
            case .attempt: sending.attempt = Int(try scanner.integer(in: 1...Int64(Int32.max)))
            case .since: phase = .inFlight(since: try scanner.timestamp())
            case .until: phase = .waiting(until: try scanner.timestamp())
            case .closes: sending.closes = try scanner.boolean()
            case .expiration: sending.expiration = try scanner.timestamp()
            case .inDoubt: sending.isInDoubt = try scanner.boolean()
            case .cancelledBy: sending.cancelledBy = try scanner.requestID()
            case .recalledBy: sending.recalledBy = try scanner.requestID()
            case .traceparent: traceparent = try scanner.textBytes()
            case .tracestate: tracestate = try scanner.textBytes()
            case .content: sending.content = try scanner.slice(of: source)
            default: try scanner.skipValue()
            }
        }
        guard let id else { throw missing("requestId") }
        guard let phase else { throw missing("since") }
        sending.requestID = id
        sending.phase = phase
        sending.trace = CarriedTrace(traceparent: traceparent, tracestate: tracestate)
        return sending
    }

    private mutating func slice(of source: [UInt8]) throws(ModelError) -> ArraySlice<UInt8> {
        guard peek() == 0x7B else { throw unexpected("an object") }
        let start = position
        try skipValue()
        return source[start..<position]
    }

    private mutating func textBytes() throws(ModelError) -> [UInt8] {
        let text = try string()
        return try withBytes(text) { bytes throws(ModelError) in Array(bytes) }
    }
}
