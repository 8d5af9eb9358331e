package import NotificationModel

/// The state of one identifier in a notification center, stored in the topic `state` under the notification's key.
///
/// Only the consumer service uses it. Readers ignore unknown fields, and refuse a newer form.
package struct StateEntry: Sendable, Hashable {
    /// Scheduled or held back, not sent yet.
    @Boxed package var pending: Pending?
    /// On its way to its targets.
    @Boxed package var handover: Handover?
    /// Shown in the recipient's notification center. A repeating request can be both pending and delivered.
    package var delivered: Delivered?
    /// What targets show other than ``delivered``, and what is done about it; nil when nothing is.
    @Boxed package var screen: Screen?
    /// What an entry of an older version says in place of a screen; nil in all others.
    @Boxed package var former: Former?
    /// Closed requests and removals, to recognize repeated records; the newest last.
    package var known: [KnownRequest] = []
    /// What devices have told about its requests, to count each once; the newest last.
    package var marks: [DeviceMark] = []
    /// The highest `version` seen, and its request.
    package var version: Version?
    /// How far each input topic was applied to it.
    package var applied = AppliedOffsets()
    /// When a record or timer was last applied to it.
    package var touched = Timestamp(rawValue: 0)

    /// An empty entry.
    package init() {}
}

extension StateEntry {
    /// When the entry has work: to enrich or send what is pending, to begin or to try again. While an attempt is in flight, what
    /// is pending waits for its end.
    ///
    /// - Parameter grouping: of the channels.
    package func due(_ grouping: (ChannelName) -> Screen.Grouping?) -> Timestamp? {
        guard let screen else { return earlier(handover?.start, pending?.alarm) }
        let next = screen.isInFlight ? nil : pending?.alarm
        let start = handover?.start
        return earlier(earlier(screen.nextAttempt(grouping), start), next)
    }

    private func earlier(_ one: Timestamp?, _ other: Timestamp?) -> Timestamp? {
        guard let one, let other else { return one ?? other }
        return min(one, other)
    }

    /// When the entry has work after a restart: an attempt that was in flight is then in doubt, and an enrichment starts again;
    /// both go first.
    package var dueAfterRestart: Timestamp? {
        var due = pending?.alarm
        for operation in screen?.operations ?? [] {
            switch operation.phase {
            case .inFlight(let time), .waiting(let time): due = earlier(time, due)
            }
        }
        if let handover { due = handover.isBeingEnriched ? touched : earlier(due, handover.start) }
        return due
    }

    /// When a restore must consider the entry again, for the order in which stores keep entries: far in the future when it
    /// waits without a time. Nil only when nothing is unfinished: such an entry may be forgotten.
    package var storedDue: Timestamp? { dueAfterRestart ?? (isIdle ? nil : .latest) }

    /// Whether an enrichment is under way, or has ended before the due time: only the memory knows it.
    package var isBeingEnriched: Bool { handover?.isBeingEnriched ?? false || pending?.isPrepared ?? false }

    /// Whether something is asked of an enrichment or a channel: its answer is expected by the owner that asked.
    package var isUnderWay: Bool { isBeingEnriched || screen?.isInFlight ?? false }

    /// Whether it waits for a device to cross the boundary of a region, or for its turn after a crossing.
    package var waitsForRegion: Bool {
        guard let pending, case .region = pending.timer else { return false }
        return true
    }

    /// Whether it has one; copies nothing of it.
    package var hasPending: Bool { _pending.isPresent }
    /// Whether it has one; copies nothing of it.
    package var hasHandover: Bool { _handover.isPresent }
    /// Whether it has one; copies nothing of it.
    package var hasScreen: Bool { _screen.isPresent }

    /// True when nothing is scheduled, held or on its way, and no target has to be changed.
    package var isIdle: Bool {
        guard !hasPending, !hasHandover else { return false }
        return screen?.operations.isEmpty ?? true
    }

    /// Whether its notification is in the delivered set.
    package var isDelivered: Bool { if case .some = delivered { true } else { false } }

    /// True when the entry holds nothing to keep.
    package var isEmpty: Bool {
        guard known.isEmpty, marks.isEmpty, !isDelivered, isIdle else { return false }
        guard !hasScreen else { return false }
        if case .some = version { return false }
        return true
    }

    /// What is kept beside an entry in memory.
    package struct Outline: Sendable, Hashable {
        /// As the entry says of itself.
        package var isIdle: Bool
        package var isEmpty: Bool
        package var open: OpenRequests
        /// When it has work; see ``StateEntry/due(_:)``.
        package var due: Timestamp?
    }

    /// - Parameter grouping: of the channels.
    package func outline(_ grouping: (ChannelName) -> Screen.Grouping?) -> Outline {
        guard !isIdle else { return Outline(isIdle: true, isEmpty: isEmpty, open: .none) }
        return Outline(isIdle: false, isEmpty: false, open: open, due: due(grouping))
    }

    /// Whether an attempt without an answer may have shown an occurrence.
    package func isInDoubt(_ showing: Showing) -> Bool { screen?.isInDoubt(showing) ?? false }
}

extension StateEntry: StatePart {
    private enum Field: FieldName {
        case form, touched, due, offset, life, signals, version, pending, sending, delivered, known, knownTexts, marks,
            recalls, screen
    }

    var form: Int {
        let now = max(version.form, max(pending.form, handover.form))
        return max(max(now, delivered.form), hasPlainScreen ? StateForm.first : screen.form)
    }

    /// Whether the screen has nothing but the only operation of the handover, which is written with that.
    private var hasPlainScreen: Bool {
        guard let screen, screen.targets.isEmpty, screen.removal == nil, let handover else { return false }
        return handover.isOnly(screen.operations)
    }

    /// Reads an entry; ignores unknown fields.
    ///
    /// Throws `unsupported-form` for a newer form, `invalid` with the missing or wrong field.
    ///
    /// - Parameters:
    ///   - json: the value of a record on `state`.
    ///   - zones: the zones of calendar triggers. A zone that is not in it has one offset, the one that the next occurrence was
    ///     planned with; so have all zones without it.
    package init(json: [UInt8], zones: TimeZoneDatabase?) throws(ModelError) {
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
        var sending = Handover.Scan()
        var removals: [Former.Removal] = []
        var isPendingInDoubt = false
        try scanner.object(of: Field.self, from: .state) { scanner, field throws(ModelError) in
            switch field {
            case .form: form = try StateForm.read(&scanner, of: "entry")
            case .touched: entry.touched = try scanner.timestamp()
            case .offset: entry.applied[.requests].offset = try scanner.integer(in: -1...Int64.max)
            case .life: entry.applied[.requests].life = try scanner.integer(in: 0...Int64.max)
            case .signals: entry.applied[.signals] = try AppliedOffsets.Place(&scanner)
            case .version: entry.version = try Version(&scanner)
            case .pending:
                entry.pending = try Pending(&scanner, of: source, zones: zones, isInDoubt: &isPendingInDoubt)
            case .sending: sending = try Handover.read(&scanner, of: source)
            case .delivered: entry.delivered = try Delivered(&scanner, of: source)
            case .known: try KnownRequest.readPacked(&scanner, into: &entry.known)
            case .knownTexts:
                hasTexts = true
                try KnownRequest.readTexts(&scanner, into: &entry.known)
            case .marks:
                entry.marks.removeAll()
                try scanner.array { scanner, _ throws(ModelError) in entry.marks.append(try DeviceMark(&scanner)) }
            case .screen: entry.screen = try Screen(&scanner)
            case .recalls:
                removals.removeAll()
                try scanner.array { scanner, _ throws(ModelError) in removals.append(try Former.Removal(&scanner)) }
            // Only for the head: it is derived from the pending and sending parts.
            case .due: try scanner.skipValue()
            }
        }
        let written = try scanner.required(form, Field.form)
        if written < StateForm.withoutDue, let pending = entry.pending, pending.due == nil {
            throw scanner.missing("pending.due")
        }
        entry.handover = sending.handover
        if let operation = sending.operation { entry.screen = entry.screen ?? Screen(operation) }
        if sending.former != nil || isPendingInDoubt || !removals.isEmpty {
            let rest = Former(isPendingInDoubt: isPendingInDoubt, removals: removals)
            entry.former = sending.former?.adding(rest) ?? rest
        }
        if hasTexts { entry.known.sort { $0.closed < $1.closed } }
        self = entry
    }

    /// Appends the entry's JSON, the head first.
    package func write(to out: inout [UInt8]) {
        var object = JSONObjectWriter()
        object.member(Field.form, Int64(form), &out)
        object.member(Field.touched, touched, &out)
        object.member(Field.due, storedDue, &out)
        object.member(Field.offset, applied[.requests].offset, &out)
        if applied[.requests].life > 0 { object.member(Field.life, applied[.requests].life, &out) }
        if applied[.signals] != .init() { object.member(Field.signals, applied[.signals], &out) }
        object.member(Field.version, version, &out)
        object.member(Field.pending, pending, &out)
        if let handover {
            object.begin(Field.sending, &out)
            handover.writeJSON(
                with: hasPlainScreen ? screen?.operations.first : nil,
                isInDoubt: isInDoubt(handover.showing),
                to: &out
            )
        }
        object.member(Field.delivered, delivered, &out)
        if !known.isEmpty {
            object.begin(Field.known, &out)
            if KnownRequest.writePacked(known, to: &out) {
                object.begin(Field.knownTexts, &out)
                KnownRequest.writeTexts(known, to: &out)
            }
        }
        if !marks.isEmpty { object.member(Field.marks, marks, &out) }
        if !hasPlainScreen { object.member(Field.screen, screen, &out) }
        object.end(&out)
    }

    /// The entry's JSON.
    package var json: [UInt8] {
        var out: [UInt8] = []
        // Everything except content needs some 400 bytes; growing the buffer would copy all of it.
        let contents =
            (pending?.content.count ?? 0) + (handover?.content.count ?? 0) + (delivered?.details?.content?.count ?? 0)
        out.reserveCapacity(512 + contents + 32 * known.count)
        write(to: &out)
        return out
    }

    /// The part of an entry that a restore needs.
    package struct Head: Sendable, Hashable {
        /// When it last changed.
        package var touched: Timestamp
        /// As ``StateEntry/storedDue``.
        package var due: Timestamp?
        /// As ``StateEntry/open``.
        package var open = OpenRequests.none
        /// Whether it may wait for a calendar trigger, as its form says.
        package var mayHaveCalendar = false
    }

    /// Reads only the head, without building anything. Throws as ``init(json:zones:)``.
    package static func head(of json: [UInt8]) throws(ModelError) -> Head {
        try json.borrowed { bytes throws(ModelError) in
            var scanner = JSONScanner(bytes, maximumDepth: ModelLimits.depth + 4)
            return try scanner.whole { scanner throws(ModelError) in try head(&scanner) }
        }
    }

    private static func head(_ scanner: inout JSONScanner) throws(ModelError) -> Head {
        var head = Head(touched: Timestamp(rawValue: 0))
        var form: Int64?
        var (waiting, sent): (OpenState?, OpenState?)
        try scanner.object(of: Field.self, from: .state) { scanner, field throws(ModelError) in
            switch field {
            case .form: form = try StateForm.read(&scanner, of: "entry")
            case .touched: head.touched = try scanner.timestamp()
            case .due: head.due = try scanner.timestamp()
            case .pending: waiting = try Pending.openState(&scanner)
            case .sending: sent = try Handover.openState(&scanner)
            default: try scanner.skipValue()
            }
        }
        head.open = OpenRequests(waiting: waiting, sent: sent)
        head.mayHaveCalendar = try scanner.required(form, Field.form) >= StateForm.calendar
        return head
    }
}
