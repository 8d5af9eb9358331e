/// What a notification centre keeps of one identifier, as the topic `state` carries it under the notification's key.
///
/// Only the consumer service uses it. Readers pass over fields they do not know, and refuse a newer form (``StateForm``).
public struct StateEntry: Sendable, Hashable {
    /// Scheduled or held back, not sent yet.
    public var pending: Pending?
    /// Handed to a channel whose answer is awaited, or between two attempts.
    public var sending: Sending?
    /// In the recipient's notification centre. A repeating request can be in both.
    public var delivered: Delivered?
    /// Closed requests and removals, by which a repeated record is recognised; the newest last.
    public var known: [KnownRequest] = []
    /// Of a recipient's own entry, which has an empty identifier: removals of everything the recipient has; the newest last.
    public var removals: [KnownRemoval] = []
    /// The highest `version` seen, and who brought it.
    public var version: Version?
    /// The offset of the last record of `requests` that was applied to it; -1 for none. Up to it, reading again changes nothing.
    public var appliedThrough: Int64 = -1
    /// The life of `requests` that the offset belongs to: 0, and one more each time the topic was found to be a new one.
    public var life: Int64 = 0
    /// When something was last applied to it.
    public var touched = Timestamp(rawValue: 0)

    /// An entry that holds nothing.
    public init() {}
}

extension StateEntry {
    /// When the entry has something to do: send what is pending, or try again. Nil while a send is in flight.
    public var due: Timestamp? {
        guard let sending else { return pending?.due }
        if case .waiting(let until) = sending.phase { return until }
        return nil
    }

    /// When it has something to do after a restart: a send that was in flight is then in doubt, and comes first.
    public var dueAfterRestart: Timestamp? {
        if let sending, case .inFlight(let since) = sending.phase { return since }
        return due
    }

    /// True when nothing is scheduled, held or being sent.
    public var isIdle: Bool { pending == nil && sending == nil }

    /// True when the entry holds nothing that must be kept.
    public var isEmpty: Bool {
        isIdle && delivered == nil && known.isEmpty && version == nil && removals.isEmpty
    }
}

extension StateEntry: StatePart {
    private enum Field: FieldName {
        case form, touched, due, offset, life, version, pending, sending, delivered, known, knownTexts, removals
    }

    var form: Int {
        let now = max(version.form, max(pending.form, sending.form))
        return max(max(now, delivered.form), max(known.form, removals.form))
    }

    /// Reads an entry; unknown fields are passed over.
    ///
    /// Throws `unsupported-form` when it is of a newer form, `invalid` with the field when something is missing or wrong.
    public init(json: [UInt8]) throws(ModelError) {
        self = try json.borrowed { bytes throws(ModelError) in
            var scanner = JSONScanner(bytes, maximumDepth: ModelLimits.depth + 4)
            return try scanner.whole { scanner throws(ModelError) in try StateEntry(&scanner, of: json) }
        }
    }

    /// - Parameter source: what is scanned, for the slices of it that are kept.
    private init(_ scanner: inout JSONScanner, of source: [UInt8]) throws(ModelError) {
        var entry = StateEntry()
        var form: Int64?
        var hasTexts = false
        try scanner.object { scanner, name throws(ModelError) in
            switch try scanner.field(name, of: Field.self) {
            case .form: form = try StateForm.read(&scanner, of: "entry")
            case .touched: entry.touched = try scanner.timestamp()
            case .offset: entry.appliedThrough = try scanner.integer(in: -1...Int64.max)
            case .life: entry.life = try scanner.integer(in: 0...Int64.max)
            case .version: entry.version = try Version(&scanner)
            case .pending: entry.pending = try Pending(&scanner, of: source)
            case .sending: entry.sending = try Sending(&scanner, of: source)
            case .delivered: entry.delivered = try Delivered(&scanner)
            case .known: try KnownRequest.readPacked(&scanner, into: &entry.known)
            case .knownTexts:
                hasTexts = true
                try KnownRequest.readTexts(&scanner, into: &entry.known)
            case .removals:
                entry.removals.removeAll()
                try scanner.array { scanner, _ throws(ModelError) in entry.removals.append(try KnownRemoval(&scanner)) }
            // For the head: it follows from what is pending and being sent.
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
        object.member(Field.due, dueAfterRestart, &out)
        object.member(Field.offset, appliedThrough, &out)
        if life > 0 { object.member(Field.life, life, &out) }
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
        if !removals.isEmpty { object.member(Field.removals, removals, &out) }
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

    /// What a restore needs of an entry before it is used.
    public struct Head: Sendable, Hashable {
        /// When it was last applied to.
        public var touched: Timestamp
        /// When it has something to do after a restart; nil when it waits for nothing.
        public var due: Timestamp?
    }

    /// Reads the head alone, without building anything. Throws as ``init(json:)``.
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
        _ = try scanner.required(form, Field.form)
        return head
    }
}
