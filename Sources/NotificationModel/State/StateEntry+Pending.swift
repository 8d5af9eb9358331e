extension StateEntry {
    /// A notification that waits.
    public struct Pending: Sendable, Hashable {
        /// The request.
        public var requestID: RequestID
        /// The raw JSON object, as requested.
        public var content: ArraySlice<UInt8>
        /// After this instant the notification is not sent.
        public var expiration: Timestamp?
        /// The trace of the record that asked for it.
        public var trace: CarriedTrace
        /// What it waits for.
        public var timer: Timer
        /// When it is handed to a channel: never before this instant. Nil while it waits for something that has no time.
        public var due: Timestamp?
        /// A former owner of the partition may have sent it.
        public var isInDoubt: Bool
        /// The channel that the request names.
        public var channel: ChannelName?
        /// What holds it back or limits it, beside its trigger.
        public var limits: DeliveryLimits?
        /// Its enrichment ahead of the due time; nil without one. Not written.
        public var preparation: Preparation?

        /// A notification that waits until `due`.
        public init(
            requestID: RequestID,
            content: ArraySlice<UInt8>,
            expiration: Timestamp?,
            trace: CarriedTrace,
            timer: Timer,
            due: Timestamp?,
            isInDoubt: Bool = false,
            channel: ChannelName? = nil,
            limits: DeliveryLimits? = nil
        ) {
            self.requestID = requestID
            self.content = content
            self.expiration = expiration
            self.trace = trace
            self.timer = timer
            self.due = due
            self.isInDoubt = isInDoubt
            self.channel = channel
            self.limits = limits
        }
    }
}

extension StateEntry.Pending {
    /// When it has work: it is due, or its enrichment starts.
    var alarm: Timestamp? {
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
        case requestId, due, timer, expiration, inDoubt, channel, limits, content
    }

    var form: Int {
        let form = max(timer.form, max(trace.form, channel.form))
        // An older version would send it without its limits.
        let limited = limits == nil ? form : max(form, StateForm.devices)
        return max(due == nil ? StateForm.withoutDue : StateForm.first, limited)
    }

    /// - Parameter source: what is scanned, for the slice of it that is kept.
    init(_ scanner: inout JSONScanner, of source: [UInt8], zones: TimeZoneDatabase?) throws(ModelError) {
        var (id, due, timer): (RequestID?, Timestamp?, StateEntry.Timer?)
        var (content, expiration): (ArraySlice<UInt8>?, Timestamp?)
        var isInDoubt = false
        var channel: ChannelName?
        var limits: DeliveryLimits?
        var trace = CarriedTrace.Scan()
        try scanner.object { scanner, name throws(ModelError) in
            switch try scanner.field(name, of: Field.self) {
            case .requestId: id = try scanner.requestID()
            case .due: due = try scanner.timestamp()
            case .timer: timer = try StateEntry.Timer(&scanner, zones: zones)
            case .expiration: expiration = try scanner.timestamp()
            case .inDoubt: isInDoubt = try scanner.boolean()
            case .channel: channel = try scanner.choice(ChannelName.self)
            case .limits: limits = try DeliveryLimits(&scanner)
            case .content: content = try scanner.object(of: source)
            case nil: try trace.read(name, &scanner)
            }
        }
        self.init(
            requestID: try scanner.required(id, Field.requestId),
            content: try scanner.required(content, Field.content),
            expiration: expiration,
            trace: trace.trace,
            timer: try scanner.required(timer, Field.timer),
            due: due,
            isInDoubt: isInDoubt,
            channel: channel,
            limits: limits
        )
    }

    func writeJSON(to out: inout [UInt8]) {
        var object = JSONObjectWriter()
        object.member(Field.requestId, requestID, &out)
        object.member(Field.due, due, &out)
        object.member(Field.timer, timer, &out)
        object.member(Field.expiration, expiration, &out)
        if isInDoubt { object.member(Field.inDoubt, true, &out) }
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
