extension StateEntry {
    /// A notification or withdrawal that a channel has received.
    public struct Sending: Sendable, Hashable {
        /// The progress of a send.
        public enum Phase: Sendable, Hashable {
            /// The channel has had it since that instant.
            case inFlight(since: Timestamp)
            /// An attempt failed; the next one is at that instant.
            case waiting(until: Timestamp)
        }

        /// The request.
        public var requestID: RequestID
        /// The nominal instant of the trigger.
        public var occurrence: Timestamp?
        /// The raw JSON object; nil for a recall.
        public var content: ArraySlice<UInt8>?
        /// After this instant no further attempt starts.
        public var expiration: Timestamp?
        /// The trace of the request record.
        public var trace: CarriedTrace
        /// Whether the request closes with this send; false for one occurrence of a repeat.
        public var closes: Bool
        /// The number of the attempt, from 1.
        public var attempt: Int
        /// Whether the channel did not try that attempt, so that the next one has its number.
        public var isDeferred: Bool
        /// The progress of the send.
        public var phase: Phase
        /// When the first attempt began; nil until it has ended.
        public var begun: Timestamp?
        /// An earlier attempt, perhaps of a previous owner of the partition, may have reached a device.
        public var isInDoubt: Bool
        /// A removal of pending notifications that arrived during the send; it is answered when the send ends.
        public var cancelledBy: RequestID?
        /// A removal of delivered notifications that arrived during the send; it is applied when the send ends.
        public var recalledBy: RequestID?
        /// The channel that the request names.
        public var channel: ChannelName?
        /// The names of the devices that any of its attempts was for, or that a recall is for; empty for a recall on all.
        public var devices: [String] = []
        /// The names of the devices whose badges it has incremented: once each.
        public var badged: [String] = []
        /// The devices that the attempt is for; not written, because each attempt chooses again.
        public var addressees: Addressees?
        /// A response that arrived before the channel has accepted it, and takes the notification away.
        public var answer: Answer?
        /// Its enrichment, which comes before the first attempt; nil without one. Until it has ended, the send waits.
        public var enrichment: Enrichment?

        /// A new send.
        public init(
            requestID: RequestID,
            occurrence: Timestamp?,
            content: ArraySlice<UInt8>?,
            expiration: Timestamp?,
            trace: CarriedTrace,
            closes: Bool,
            attempt: Int = 1,
            isDeferred: Bool = false,
            phase: Phase,
            begun: Timestamp? = nil,
            isInDoubt: Bool = false,
            cancelledBy: RequestID? = nil,
            recalledBy: RequestID? = nil,
            channel: ChannelName? = nil
        ) {
            self.requestID = requestID
            self.occurrence = occurrence
            self.content = content
            self.expiration = expiration
            self.trace = trace
            self.closes = closes
            self.attempt = attempt
            self.isDeferred = isDeferred
            self.phase = phase
            self.begun = begun
            self.isInDoubt = isInDoubt
            self.cancelledBy = cancelledBy
            self.recalledBy = recalledBy
            self.channel = channel
        }

        /// A response to what is still being sent.
        public struct Answer: Sendable, Hashable {
            /// Its response id.
            public var id: RequestID
            /// Where the person answered; nil when it was not told.
            public var device: String?

            /// An answer.
            public init(id: RequestID, device: String?) { (self.id, self.device) = (id, device) }
        }

        /// Whether an attempt has no answer yet.
        public var isInFlight: Bool {
            if case .inFlight = phase { true } else { false }
        }

        /// Whether it waits for its enrichment: no attempt has begun.
        public var isBeingEnriched: Bool {
            if case .until? = enrichment { true } else { false }
        }

        /// Ends an attempt; the next one begins at that instant.
        public mutating func wait(until next: Timestamp) {
            if begun == nil, case .inFlight(let since) = phase { begun = since }
            phase = .waiting(until: next)
        }
    }
}

extension StateEntry.Sending: StatePart, JSONWritable {
    private enum Field: FieldName {
        case requestId, occurrence, attempt, deferred, since, until, begun, closes, expiration, inDoubt, cancelledBy,
            recalledBy, channel, content, enrichUntil, enrichment, devices, badged, answeredBy,
            answeredOn
    }

    var form: Int { max(trace.form, channel.form) }

    /// - Parameter source: the scanned bytes; the entry keeps a slice of them.
    init(_ scanner: inout JSONScanner, of source: [UInt8]) throws(ModelError) {
        var (id, phase): (RequestID?, Phase?)
        var (answeredBy, answeredOn): (RequestID?, String?)
        var trace = CarriedTrace.Scan()
        var sending = Self(
            requestID: .uuid(UUIDValue(high: 0, low: 0)),
            occurrence: nil,
            content: nil,
            expiration: nil,
            trace: .none,
            closes: false,
            phase: .inFlight(since: Timestamp(rawValue: 0))
        )
        try scanner.object { scanner, name throws(ModelError) in
            switch try scanner.field(name, of: Field.self) {
            case .requestId: id = try scanner.requestID()
            case .occurrence: sending.occurrence = try scanner.timestamp()
            case .attempt: sending.attempt = Int(try scanner.integer(in: 1...Int64(Int32.max)))
            case .deferred: sending.isDeferred = try scanner.boolean()
            case .since: phase = .inFlight(since: try scanner.timestamp())
            case .until: phase = .waiting(until: try scanner.timestamp())
            case .begun: sending.begun = try scanner.timestamp()
            case .closes: sending.closes = try scanner.boolean()
            case .expiration: sending.expiration = try scanner.timestamp()
            case .inDoubt: sending.isInDoubt = try scanner.boolean()
            case .cancelledBy: sending.cancelledBy = try scanner.requestID()
            case .recalledBy: sending.recalledBy = try scanner.requestID()
            case .channel: sending.channel = try scanner.choice(ChannelName.self)
            case .content: sending.content = try scanner.object(of: source)
            case .devices: sending.devices = try scanner.texts()
            case .badged: sending.badged = try scanner.texts()
            case .answeredBy: answeredBy = try scanner.requestID()
            case .answeredOn: answeredOn = scanner.materialise(try scanner.string())
            case .enrichUntil: sending.enrichment = .until(try scanner.timestamp())
            case .enrichment: sending.enrichment = .ended(report: try scanner.object(of: source))
            case nil: try trace.read(name, &scanner)
            }
        }
        sending.answer = answeredBy.map { Answer(id: $0, device: answeredOn) }
        // A recall does not choose its devices again.
        if sending.content == nil, !sending.devices.isEmpty {
            sending.addressees = Addressees(recalling: sending.devices)
        }
        sending.requestID = try scanner.required(id, Field.requestId)
        sending.phase = try scanner.required(phase, Field.since)
        sending.trace = trace.trace
        self = sending
    }

    func writeJSON(to out: inout [UInt8]) {
        var object = JSONObjectWriter()
        object.member(Field.requestId, requestID, &out)
        object.member(Field.occurrence, occurrence, &out)
        object.member(Field.attempt, Int64(attempt), &out)
        // An older version counts it as an attempt.
        if isDeferred { object.member(Field.deferred, true, &out) }
        switch phase {
        case .inFlight(let since): object.member(Field.since, since, &out)
        case .waiting(let until): object.member(Field.until, until, &out)
        }
        object.member(Field.begun, begun, &out)
        object.member(Field.closes, closes, &out)
        object.member(Field.expiration, expiration, &out)
        if isInDoubt { object.member(Field.inDoubt, true, &out) }
        object.member(Field.cancelledBy, cancelledBy, &out)
        object.member(Field.recalledBy, recalledBy, &out)
        object.member(Field.channel, channel?.rawValue, &out)
        trace.write(&object, &out)
        if !devices.isEmpty { object.member(Field.devices, devices, &out) }
        if !badged.isEmpty { object.member(Field.badged, badged, &out) }
        object.member(Field.answeredBy, answer?.id, &out)
        object.member(Field.answeredOn, answer?.device, &out)
        switch enrichment {
        // An older version sends it as requested, at the end of that time.
        case .until(let end)?: object.member(Field.enrichUntil, end, &out)
        case .ended(let report)?:
            object.begin(Field.enrichment, &out)
            JSONWriter.append(raw: report, to: &out)
        case nil: break
        }
        if let content {
            object.begin(Field.content, &out)
            JSONWriter.append(raw: content, to: &out)
        }
        object.end(&out)
    }
}
