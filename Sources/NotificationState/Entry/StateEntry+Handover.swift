import NotificationDelivery
package import NotificationModel

extension StateEntry {
    /// A notification on its way to its targets: being enriched, waiting for its turn, or being sent. What its targets have is in
    /// the entry's ``Screen``.
    package struct Handover: Sendable, Hashable {
        /// The request and the nominal instant of the trigger.
        package var showing: Showing
        /// The raw JSON object.
        package var content: ArraySlice<UInt8>
        /// After this instant no further attempt starts.
        package var expiration: Timestamp?
        /// The trace of the request record.
        package var trace: CarriedTrace
        /// Whether the request closes with it; false for one occurrence of a repeat.
        package var closes: Bool
        /// The channel that the request names.
        package var channel: ChannelName?
        /// What holds its attempts back.
        package var limits: DeliveryLimits?
        /// The time of its cause: of the request record, or when it was due.
        package var time: Timestamp
        /// When it begins, or goes on without the result of its enrichment; nil once its targets are chosen.
        package var start: Timestamp?
        /// Its enrichment, which comes first; nil without one.
        package var enrichment: Enrichment?
        /// The names of the devices that it is addressed to; nil when no device is known.
        package var devices: [String]?
        /// The names of the devices whose badges it has incremented: once each.
        package var badged: [String] = []
        /// A removal of pending notifications that arrived during an attempt; it is answered when that has ended.
        package var cancelledBy: RequestID?
        /// A removal of delivered notifications that arrived during an attempt; it is applied when that has ended.
        package var removedBy: RequestID?
        /// A response that arrived during an attempt: a device shows it, and the person takes it away.
        package var answer: Answer?
        /// Whether it was delivered to some of its targets, and its request has closed: the others are still being tried.
        package var isClosed = false
        /// Whether an attempt before the one that was accepted had no answer. Not written.
        package var isInDoubt = false
        /// Not written, because each attempt chooses again.
        package var addressees: Addressees?

        /// Whether a device may be chosen: of what was delivered to some, only one that it was for already.
        package func mayBeFor(_ device: String) -> Bool { !isClosed || devices?.containsUTF8(of: device) ?? true }

        /// A handover that begins.
        package init(
            showing: Showing,
            content: ArraySlice<UInt8>,
            expiration: Timestamp?,
            trace: CarriedTrace,
            closes: Bool,
            channel: ChannelName?,
            limits: DeliveryLimits? = nil,
            time: Timestamp
        ) {
            // One by one: tuples would copy it.
            self.showing = showing
            self.content = content
            self.expiration = expiration
            self.trace = trace
            self.closes = closes
            self.channel = channel
            self.limits = limits
            self.time = time
        }

        /// A response to what is still being sent.
        package struct Answer: Sendable, Hashable {
            /// Its response id.
            package var id: RequestID
            /// Where the person answered; nil when it was not told.
            package var device: String?

            /// An answer.
            package init(id: RequestID, device: String?) { (self.id, self.device) = (id, device) }
        }

        /// Whether it waits for its enrichment: no attempt has begun.
        package var isBeingEnriched: Bool {
            if case .until? = enrichment { true } else { false }
        }
    }
}

extension StateEntry.Handover: StatePart {
    private enum Field: FieldName {
        case requestId, occurrence, round, attempt, deferred, since, until, begun, closes, expiration, inDoubt
        case cancelledBy, recalledBy, channel, limits, content, enrichUntil, enrichment, devices, badged
        case answeredBy, answeredOn, closed, time, id, place, at, via, list
    }

    var form: Int {
        let form = max(StateForm.of(content), max(trace.form, channel.form))
        // An older version would deliver it to all of them.
        return showing.round > 0 || isClosed ? max(form, StateForm.screens) : form
    }

    /// What was read of `sending`.
    struct Scan {
        /// Nil for a recall of an older version.
        var handover: StateEntry.Handover?
        /// Its only operation; nil when it has none, or others are in the screen.
        var operation: ScreenOperation?
        /// What an older version says of it.
        var former: StateEntry.Former?
    }

    /// - Parameter source: the scanned bytes; the entry keeps a slice of them.
    static func read(_ scanner: inout JSONScanner, of source: [UInt8]) throws(ModelError) -> Scan {
        var (id, content): (RequestID?, ArraySlice<UInt8>?)
        var (occurrence, expiration, begun, time, at): (Timestamp?, Timestamp?, Timestamp?, Timestamp?, Timestamp?)
        var phase: ScreenOperation.Phase?
        var (round, attempt) = (Int64(0), Int64(1))
        var (isDeferred, closes, isInDoubt, isClosed) = (false, false, false, false)
        var (cancelledBy, removedBy, answeredBy): (RequestID?, RequestID?, RequestID?)
        var answeredOn: String?
        var (channel, via): (ChannelName?, ChannelName?)
        var limits: DeliveryLimits?
        var enrichment: StateEntry.Enrichment?
        var (devices, badged): ([String]?, [String]) = (nil, [])
        var (operationID, list): (UUIDValue?, ArraySlice<UInt8>?)
        var place: AppliedOffsets.Place?
        var trace = CarriedTrace.Scan()
        try trace.object(of: Field.self, in: &scanner) { scanner, field throws(ModelError) in
            switch field {
            case .requestId: id = try scanner.requestID()
            case .occurrence: occurrence = try scanner.timestamp()
            case .round: round = try scanner.integer(in: 0...Int64(Int32.max))
            case .attempt: attempt = try scanner.integer(in: 1...Int64(Int32.max))
            case .deferred: isDeferred = try scanner.boolean()
            case .since: phase = .inFlight(since: try scanner.timestamp())
            case .until: phase = .waiting(until: try scanner.timestamp())
            case .begun: begun = try scanner.timestamp()
            case .closes: closes = try scanner.boolean()
            case .expiration: expiration = try scanner.timestamp()
            case .inDoubt: isInDoubt = try scanner.boolean()
            case .cancelledBy: cancelledBy = try scanner.requestID()
            case .recalledBy: removedBy = try scanner.requestID()
            case .channel: channel = try scanner.choice(ChannelName.self)
            case .limits: limits = try DeliveryLimits(&scanner)
            case .content: content = try scanner.object(of: source)
            case .devices: devices = try scanner.texts()
            case .badged: badged = try scanner.texts()
            case .answeredBy: answeredBy = try scanner.requestID()
            case .answeredOn: answeredOn = scanner.materialise(try scanner.string())
            case .enrichUntil: enrichment = .until(try scanner.timestamp())
            case .enrichment: enrichment = .ended(report: try scanner.object(of: source))
            case .closed: isClosed = try scanner.boolean()
            case .time: time = try scanner.timestamp()
            case .id: operationID = try scanner.uuid()
            case .place: place = try AppliedOffsets.Place(&scanner)
            case .at: at = try scanner.timestamp()
            case .via: via = try scanner.choice(ChannelName.self)
            case .list: list = try scanner.array()
            }
        }
        let isOfOlderVersion = time == nil
        let known = try scanner.required(phase, Field.since)
        let showing = Showing(
            try scanner.required(id, Field.requestId),
            occurrence,
            round: Int(round),
            isFormer: isOfOlderVersion
        )
        var scan = Scan()
        guard let content else {
            scan.former = .init(removals: [
                .init(channel: channel, devices: devices ?? [], cause: showing, trace: trace.trace)
            ])
            return scan
        }
        var handover = Self(
            showing: showing,
            content: content,
            expiration: expiration,
            trace: trace.trace,
            closes: closes,
            channel: channel,
            limits: limits,
            time: time ?? begun ?? .earliest
        )
        (handover.devices, handover.badged, handover.enrichment) = (devices, badged, enrichment)
        (handover.cancelledBy, handover.removedBy, handover.isClosed) = (cancelledBy, removedBy, isClosed)
        handover.answer = answeredBy.map { Answer(id: $0, device: answeredOn) }
        if let place, let via {
            var operation = ScreenOperation(
                .show(showing),
                channel: via,
                devices: devices ?? [],
                at: .earliest,
                sequence: .init(life: place.life, offset: place.offset, time: at ?? handover.time),
                trace: trace.trace
            )
            (operation.attempt, operation.phase, operation.begun) = (Int(attempt), known, begun)
            (operation.id, operation.list) = (operationID, list)
            scan.operation = operation
        } else if isOfOlderVersion {
            // Without an attempt it begins again: after its enrichment, or when the channel has room.
            let hasBegun = enrichment.map { if case .until = $0 { false } else { true } } ?? true
            scan.former = .init(
                attempt: hasBegun
                    ? .init(number: Int(attempt), isTried: !isDeferred, phase: known, begun: begun) : nil,
                isHandoverInDoubt: isInDoubt
            )
            if !hasBegun, case .waiting(let until) = known { handover.start = until }
        } else if case .waiting(let until) = known, !isDeferred || attempt == 1, begun == nil {
            // The operations of several targets are in the screen: an older version takes this for the next attempt.
            handover.start = until == .latest ? nil : until
        }
        scan.handover = handover
        return scan
    }

    /// The state of the handover that is scanned, as ``StateEntry/open`` has it; builds nothing of it.
    static func openState(_ scanner: inout JSONScanner) throws(ModelError) -> OpenState? {
        var state = OpenState.sending
        var (closes, isClosed, hasContent) = (false, false, false)
        try scanner.object(of: Field.self, from: .state) { scanner, field throws(ModelError) in
            switch field {
            case .closes: closes = try scanner.boolean()
            case .closed: isClosed = try scanner.boolean()
            case .enrichUntil:
                state = .enriching
                try scanner.skipValue()
            case .content:
                hasContent = true
                try scanner.skipValue()
            default: try scanner.skipValue()
            }
        }
        // Without a content it is a removal of an older version.
        return closes && !isClosed && hasContent ? state : nil
    }

    /// Whether an operation can be written with the handover, as older versions do.
    func isOnly(_ operations: [ScreenOperation]) -> Bool {
        operations.count == 1 && operations[0].showing == showing && !operations[0].isQuiet
            && operations[0].timestamp == nil && !operations[0].awaitsToken
            && operations[0].devices.elementsEqual(devices ?? []) { $0.hasSameUTF8(as: $1) }
    }

    /// - Parameter operation: its only one; nil when it has none, or the screen is written with all of them.
    func writeJSON(with operation: ScreenOperation?, isInDoubt: Bool, to out: inout [UInt8]) {
        var object = JSONObjectWriter()
        object.member(Field.requestId, showing.requestID, &out)
        object.member(Field.occurrence, showing.occurrence, &out)
        if showing.round > 0 { object.member(Field.round, Int64(showing.round), &out) }
        object.member(Field.attempt, Int64(operation?.attempt ?? 1), &out)
        switch operation?.phase {
        case .inFlight(let since)?: object.member(Field.since, since, &out)
        case .waiting(let until)?:
            // An older version counts the last attempt by itself.
            object.member(Field.deferred, true, &out)
            object.member(Field.until, until, &out)
        case nil:
            object.member(Field.deferred, true, &out)
            object.member(Field.until, start ?? .latest, &out)
        }
        object.member(Field.begun, operation?.begun, &out)
        object.member(Field.closes, closes, &out)
        object.member(Field.expiration, expiration, &out)
        if isInDoubt { object.member(Field.inDoubt, true, &out) }
        object.member(Field.cancelledBy, cancelledBy, &out)
        object.member(Field.recalledBy, removedBy, &out)
        object.member(Field.channel, channel?.rawValue, &out)
        if let limits {
            object.begin(Field.limits, &out)
            limits.writeJSON(to: &out)
        }
        trace.write(&object, &out)
        object.member(Field.devices, devices, &out)
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
        if isClosed { object.member(Field.closed, true, &out) }
        object.member(Field.time, time, &out)
        if let operation {
            let sequence = operation.sequence
            object.member(Field.place, AppliedOffsets.Place(life: sequence.life, offset: sequence.offset), &out)
            object.member(Field.at, sequence.time, &out)
            object.member(Field.via, operation.channel.rawValue, &out)
            if let id = operation.id { object.member(Field.id, RequestID.uuid(id), &out) }
            if let list = operation.list {
                object.begin(Field.list, &out)
                JSONWriter.append(raw: list, to: &out)
            }
        }
        object.begin(Field.content, &out)
        JSONWriter.append(raw: content, to: &out)
        object.end(&out)
    }
}
