package import NotificationModel

extension StateEntry {
    /// A notification that waits.
    package struct Pending: Sendable, Hashable {
        /// The request.
        package var requestID: RequestID
        /// The raw JSON object, as requested.
        package var content: ArraySlice<UInt8>
        /// After this instant the notification is not sent.
        package var expiration: Timestamp?
        /// The trace of the record that asked for it.
        package var trace: CarriedTrace
        /// What it waits for.
        package var timer: Timer
        /// When it is handed to a channel: never before this instant. Nil while it waits for something that has no time.
        package var due: Timestamp?
        /// How often it was taken away from devices that may have shown it already; see ``Showing/round``.
        package var round: Int
        /// The channel that the request names.
        package var channel: ChannelName?
        /// What holds it back or limits it, beside its trigger.
        package var limits: DeliveryLimits?
        /// Its enrichment ahead of the due time; nil without one. Not written.
        package var preparation: Preparation?

        /// A notification that waits until `due`.
        package init(
            requestID: RequestID,
            content: ArraySlice<UInt8>,
            expiration: Timestamp?,
            trace: CarriedTrace,
            timer: Timer,
            due: Timestamp?,
            round: Int = 0,
            channel: ChannelName? = nil,
            limits: DeliveryLimits? = nil
        ) {
            self.requestID = requestID
            self.content = content
            self.expiration = expiration
            self.trace = trace
            self.timer = timer
            self.due = due
            self.round = round
            self.channel = channel
            self.limits = limits
        }
    }
}

extension StateEntry.Pending {
    /// What targets show once it is delivered: the occurrence that it waits for.
    package var showing: Showing { Showing(requestID, occurrence, round: round) }

    /// The nominal instant of the occurrence that it waits for; nil without one.
    package var occurrence: Timestamp? {
        switch timer {
        case .held, .turn: nil
        case .digest(let occurrence): occurrence
        case .scheduled(_, let occurrence): occurrence
        case .region(let wait): wait.last
        }
    }

    /// Whether it waits for a crossing: its occurrence is the last one, which was sent.
    package var isBetweenCrossings: Bool {
        if case .region(let wait) = timer { !wait.isCrossed } else { false }
    }

    /// When it has work: it is due, or its enrichment starts.
    package var alarm: Timestamp? {
        guard let due, case .at(let start)? = preparation else { return due }
        return min(start, due)
    }

    /// Whether an enrichment is under way, or its result waits for the due time.
    var isPrepared: Bool {
        switch preparation {
        case .until?, .ended?: true
        case .at?, nil: false
        }
    }
}

extension StateEntry.Pending: StatePart, JSONWritable {
    private enum Field: FieldName {
        case requestId, due, timer, expiration, inDoubt, round, channel, limits, content
    }

    var form: Int {
        let form = max(timer.form, max(trace.form, channel.form))
        // An older version would send it without its limits.
        let limited = limits == nil ? form : max(form, StateForm.devices)
        let waiting = max(due == nil ? StateForm.withoutDue : StateForm.first, limited)
        let shown = max(waiting, StateForm.of(content))
        return round > 0 ? max(shown, StateForm.screens) : shown
    }

    /// - Parameters:
    ///   - source: what is scanned, for the slice of it that is kept.
    ///   - isInDoubt: set where an older version says that it may have been sent.
    init(
        _ scanner: inout JSONScanner,
        of source: [UInt8],
        zones: TimeZoneDatabase?,
        isInDoubt: inout Bool
    ) throws(ModelError) {
        var (id, due, timer): (RequestID?, Timestamp?, StateEntry.Timer?)
        var (content, expiration): (ArraySlice<UInt8>?, Timestamp?)
        var (round, doubt) = (Int64(0), false)
        var channel: ChannelName?
        var limits: DeliveryLimits?
        var trace = CarriedTrace.Scan()
        try trace.object(of: Field.self, in: &scanner) { scanner, field throws(ModelError) in
            switch field {
            case .requestId: id = try scanner.requestID()
            case .due: due = try scanner.timestamp()
            case .timer: timer = try StateEntry.Timer(&scanner, zones: zones)
            case .expiration: expiration = try scanner.timestamp()
            case .inDoubt: doubt = try scanner.boolean()
            case .round: round = try scanner.integer(in: 0...Int64(Int32.max))
            case .channel: channel = try scanner.choice(ChannelName.self)
            case .limits: limits = try DeliveryLimits(&scanner)
            case .content: content = try scanner.object(of: source)
            }
        }
        isInDoubt = doubt
        self.init(
            requestID: try scanner.required(id, Field.requestId),
            content: try scanner.required(content, Field.content),
            expiration: expiration,
            trace: trace.trace,
            timer: try scanner.required(timer, Field.timer),
            due: due,
            round: Int(round),
            channel: channel,
            limits: limits
        )
    }

    /// The state of the pending notification that is scanned; builds nothing of it.
    static func openState(_ scanner: inout JSONScanner) throws(ModelError) -> OpenState {
        var state: OpenState?
        try scanner.object(of: Field.self, from: .state) { scanner, field throws(ModelError) in
            switch field {
            case .timer: state = try StateEntry.Timer.openState(&scanner)
            default: try scanner.skipValue()
            }
        }
        return try scanner.required(state, Field.timer)
    }

    package func writeJSON(to out: inout [UInt8]) {
        var object = JSONObjectWriter()
        object.member(Field.requestId, requestID, &out)
        object.member(Field.due, due, &out)
        object.member(Field.timer, timer, &out)
        object.member(Field.expiration, expiration, &out)
        if round > 0 { object.member(Field.round, Int64(round), &out) }
        object.member(Field.channel, channel?.rawValue, &out)
        trace.write(&object, &out)
        if let limits {
            object.begin(Field.limits, &out)
            limits.writeJSON(to: &out)
        }
        object.begin(Field.content, &out)
        JSONWriter.append(raw: content, to: &out)
        object.end(&out)
    }
}
