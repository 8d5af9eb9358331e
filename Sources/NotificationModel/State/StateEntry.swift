/// The state of one identifier in a notification center, stored in the topic `state` under the notification's key.
///
/// Only the consumer service uses it. Readers ignore unknown fields, and refuse a newer form.
public struct StateEntry: Sendable, Hashable {
    /// Scheduled or held back, not sent yet.
    public var pending: Pending?
    /// Sent to a channel that has not answered, or between two attempts.
    public var sending: Sending?
    /// Shown in the recipient's notification center. A repeating request can be both pending and delivered.
    public var delivered: Delivered?
    /// Closed requests and removals, to recognize repeated records; the newest last.
    public var known: [KnownRequest] = []
    /// Recalls that wait for the end of the send: at most one for each channel.
    public var recalls: [Recall] = []
    /// What devices have told about its requests, to count each once; the newest last.
    public var marks: [DeviceMark] = []
    /// The highest `version` seen, and its request.
    public var version: Version?
    /// How far each input topic was applied to it.
    public var applied = AppliedOffsets()
    /// When a record or timer was last applied to it.
    public var touched = Timestamp(rawValue: 0)

    /// An empty entry.
    public init() {}
}

extension StateEntry {
    /// When the entry has work: enrich or send the pending notification, or try again. Nil while a send is in flight.
    public var due: Timestamp? {
        guard let sending else { return pending?.alarm }
        if case .waiting(let until) = sending.phase { return until }
        return nil
    }

    /// When the entry has work after a restart: a send that was in flight is then in doubt, and an enrichment starts again;
    /// both go first.
    public var dueAfterRestart: Timestamp? {
        if let sending, case .inFlight(let since) = sending.phase { return since }
        if let sending, sending.isBeingEnriched { return touched }
        return due
    }

    /// When a restore must consider the entry again, for the order in which stores keep entries: far in the future when it
    /// waits without a time. Nil only when nothing is unfinished: such an entry may be forgotten.
    public var storedDue: Timestamp? { dueAfterRestart ?? (isIdle ? nil : .latest) }

    /// Whether an enrichment is under way, or has ended before the due time: only the memory knows it.
    public var isBeingEnriched: Bool { sending?.isBeingEnriched ?? false || pending?.isPrepared ?? false }

    /// Whether it waits for a device to cross the boundary of a region, or for its turn after a crossing.
    public var waitsForRegion: Bool {
        guard let pending, case .region = pending.timer else { return false }
        return true
    }

    /// True when nothing is scheduled, held, being sent or waiting to be recalled.
    @inlinable public var isIdle: Bool { pending == nil && sending == nil && recalls.isEmpty }

    /// True when the entry holds nothing to keep.
    @inlinable public var isEmpty: Bool {
        isIdle && delivered == nil && known.isEmpty && version == nil && marks.isEmpty
    }
}

extension StateEntry: StatePart {
    private enum Field: FieldName {
        case form, touched, due, offset, life, signals, version, pending, sending, delivered, known, knownTexts, marks,
            recalls
    }

    var form: Int {
        let now = max(version.form, max(pending.form, sending.form))
        return max(max(now, delivered.form), known.form)
    }

    /// Reads an entry; ignores unknown fields.
    ///
    /// Throws `unsupported-form` for a newer form, `invalid` with the missing or wrong field.
    ///
    /// - Parameters:
    ///   - json: the value of a record on `state`.
    ///   - zones: the zones of calendar triggers. A zone that is not in it has one offset, the one that the next occurrence was
    ///     planned with; so have all zones without it.
    public init(json: [UInt8], zones: TimeZoneDatabase?) throws(ModelError) {
        self = try json.borrowed { bytes throws(ModelError) in
            var scanner = JSONScanner(bytes, maximumDepth: ModelLimits.depth + 4)
            return try scanner.whole { scanner throws(ModelError) in try StateEntry(&scanner, of: json, zones) }
        }
    }

    /// - Parameter source: the scanned bytes; the entry keeps slices of them.
    private init(
        _ scanner: inout JSONScanner,
        of source: [UInt8],
        _ zones: TimeZoneDatabase?
    ) throws(ModelError) {
        var entry = StateEntry()
        var form: Int64?
        var hasTexts = false
        try scanner.object { scanner, name throws(ModelError) in
            switch try scanner.field(name, of: Field.self) {
            case .form: form = try StateForm.read(&scanner, of: "entry")
            case .touched: entry.touched = try scanner.timestamp()
            case .offset: entry.applied[.requests].offset = try scanner.integer(in: -1...Int64.max)
            case .life: entry.applied[.requests].life = try scanner.integer(in: 0...Int64.max)
            case .signals: entry.applied[.signals] = try AppliedOffsets.Place(&scanner)
            case .version: entry.version = try Version(&scanner)
            case .pending: entry.pending = try Pending(&scanner, of: source, zones: zones)
            case .sending: entry.sending = try Sending(&scanner, of: source)
            case .delivered: entry.delivered = try Delivered(&scanner, of: source)
            case .known: try KnownRequest.readPacked(&scanner, into: &entry.known)
            case .knownTexts:
                hasTexts = true
                try KnownRequest.readTexts(&scanner, into: &entry.known)
            case .marks:
                entry.marks.removeAll()
                try scanner.array { scanner, _ throws(ModelError) in entry.marks.append(try DeviceMark(&scanner)) }
            case .recalls:
                entry.recalls.removeAll()
                try scanner.array { scanner, _ throws(ModelError) in entry.recalls.append(try Recall(&scanner)) }
            // Only for the head: it is derived from the pending and sending parts.
            case .due, nil: try scanner.skipValue()
            }
        }
        let written = try scanner.required(form, Field.form)
        if written < StateForm.withoutDue, let pending = entry.pending, pending.due == nil {
            throw scanner.missing("pending.due")
        }
        if hasTexts { entry.known.sort { $0.closed < $1.closed } }
        self = entry
    }

    /// Appends the entry's JSON, the head first.
    public func write(to out: inout [UInt8]) {
        var object = JSONObjectWriter()
        object.member(Field.form, Int64(form), &out)
        object.member(Field.touched, touched, &out)
        object.member(Field.due, storedDue, &out)
        object.member(Field.offset, applied[.requests].offset, &out)
        if applied[.requests].life > 0 { object.member(Field.life, applied[.requests].life, &out) }
        if applied[.signals] != .init() { object.member(Field.signals, applied[.signals], &out) }
        object.member(Field.version, version, &out)
        object.member(Field.pending, pending, &out)
        object.member(Field.sending, sending, &out)
        object.member(Field.delivered, delivered, &out)
        if !known.isEmpty {
            object.begin(Field.known, &out)
            if KnownRequest.writePacked(known, to: &out) {
                object.begin(Field.knownTexts, &out)
                KnownRequest.writeTexts(known, to: &out)
            }
        }
        if !marks.isEmpty { object.member(Field.marks, marks, &out) }
        if !recalls.isEmpty { object.member(Field.recalls, recalls, &out) }
        object.end(&out)
    }

    /// The entry's JSON.
    public var json: [UInt8] {
        var out: [UInt8] = []
        // Everything except content needs some 400 bytes; growing the buffer would copy all of it.
        let contents =
            (pending?.content.count ?? 0) + (sending?.content?.count ?? 0) + (delivered?.details?.content?.count ?? 0)
        out.reserveCapacity(512 + contents + 32 * known.count)
        write(to: &out)
        return out
    }

    /// The part of an entry that a restore needs.
    public struct Head: Sendable, Hashable {
        /// When it last changed.
        public var touched: Timestamp
        /// As ``StateEntry/storedDue``.
        public var due: Timestamp?
        /// Whether it may wait for a calendar trigger, as its form says.
        public var mayHaveCalendar = false
    }

    /// Reads only the head, without building anything. Throws as ``init(json:zones:)``.
    public static func head(of json: [UInt8]) throws(ModelError) -> Head {
        try json.borrowed { bytes throws(ModelError) in
            var scanner = JSONScanner(bytes, maximumDepth: ModelLimits.depth + 4)
            return try scanner.whole { scanner throws(ModelError) in try head(&scanner) }
        }
    }

    private static func head(_ scanner: inout JSONScanner) throws(ModelError) -> Head {
        var head = Head(touched: Timestamp(rawValue: 0))
        var form: Int64?
        try scanner.object { scanner, name throws(ModelError) in
            switch try scanner.field(name, of: Field.self) {
            case .form: form = try StateForm.read(&scanner, of: "entry")
            case .touched: head.touched = try scanner.timestamp()
            case .due: head.due = try scanner.timestamp()
            default: try scanner.skipValue()
            }
        }
        head.mayHaveCalendar = try scanner.required(form, Field.form) >= StateForm.calendar
        return head
    }
}
