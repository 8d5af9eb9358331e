import NotificationDelivery
import NotificationModel

extension Screen: StatePart, JSONWritable {
    private enum Field: FieldName {
        case targets, operations, removal
    }

    // An older version would take what a target may show for what it shows.
    var form: Int {
        guard !isEmpty else { return StateForm.first }
        let parts = max(targets.map(\.channel).form, operations.form)
        return max(max(StateForm.screens, parts), removal.form)
    }

    init(_ scanner: inout JSONScanner) throws(ModelError) {
        var screen = Screen()
        try scanner.object(of: Field.self, from: .state) { scanner, field throws(ModelError) in
            switch field {
            case .targets:
                try scanner.array { scanner, _ throws(ModelError) in
                    try ScreenTarget.read(&scanner, into: &screen.targets)
                }
            case .operations:
                try scanner.array { scanner, _ throws(ModelError) in
                    screen.operations.append(try ScreenOperation(&scanner))
                }
            case .removal: screen.removal = try OpenRemoval(&scanner)
            }
        }
        self = screen
    }

    package func writeJSON(to out: inout [UInt8]) {
        var object = JSONObjectWriter()
        if !targets.isEmpty {
            object.begin(Field.targets, &out)
            ScreenTarget.write(targets, to: &out)
        }
        if !operations.isEmpty { object.member(Field.operations, operations, &out) }
        object.member(Field.removal, removal, &out)
        object.end(&out)
    }
}

// Targets of one channel that show the same are written as one.
extension ScreenTarget {
    private enum Field: FieldName {
        case channel, devices, sure, maybes, refused, refusal, left, formerly, reduced, doubtedEnd
    }

    /// Reads targets that show the same.
    fileprivate static func read(_ scanner: inout JSONScanner, into targets: inout [ScreenTarget]) throws(ModelError) {
        var (channel, devices): (ChannelName?, [String]?)
        var target = ScreenTarget(.events, nil)
        try scanner.object(of: Field.self, from: .state) { scanner, field throws(ModelError) in
            switch field {
            case .channel: channel = try scanner.choice(ChannelName.self)
            case .devices: devices = try scanner.texts()
            case .sure: target.sure = try Showing(&scanner)
            case .maybes:
                try scanner.array { scanner, _ throws(ModelError) in target.maybes.append(try Showing(&scanner)) }
            case .refused: target.refused = try Showing(&scanner)
            case .refusal: target.refusal = try scanner.choice(ReasonCode.self)
            case .left: target.isLeft = try scanner.boolean()
            case .formerly: target.formerly = try DeviceRegistration(&scanner)
            case .reduced: target.reduced = try scanner.texts().compactMap(ReducedPart.init(rawValue:))
            case .doubtedEnd: target.doubtedEnd = try scanner.choice(ScreenTarget.DoubtedEnd.self)
            }
        }
        target.channel = try scanner.required(channel, Field.channel)
        guard let devices else { return targets.append(target) }
        for device in devices {
            target.device = device
            targets.append(target)
        }
    }

    fileprivate static func write(_ targets: [ScreenTarget], to out: inout [UInt8]) {
        var left = targets
        var separator: UInt8 = 0x5B
        while let first = left.first {
            func isSame(_ target: ScreenTarget) -> Bool {
                var target = target
                guard (target.device == nil) == (first.device == nil) else { return false }
                target.device = first.device
                return target == first
            }
            let devices = left.filter(isSame).compactMap(\.device)
            left.removeAll(where: isSame)
            out.append(separator)
            separator = 0x2C
            var object = JSONObjectWriter()
            object.member(Field.channel, first.channel.rawValue, &out)
            if !devices.isEmpty { object.member(Field.devices, devices, &out) }
            object.member(Field.sure, first.sure, &out)
            if !first.maybes.isEmpty { object.member(Field.maybes, first.maybes, &out) }
            object.member(Field.refused, first.refused, &out)
            object.member(Field.refusal, first.refusal?.rawValue, &out)
            if first.isLeft { object.member(Field.left, true, &out) }
            object.member(Field.formerly, first.formerly, &out)
            if !first.reduced.isEmpty { object.member(Field.reduced, first.reduced.map(\.rawValue), &out) }
            object.member(Field.doubtedEnd, first.doubtedEnd?.rawValue, &out)
            object.end(&out)
        }
        out.append(0x5D)
    }
}

extension ScreenOperation: StatePart, JSONWritable {
    private enum Field: FieldName {
        case show, quiet, channel, devices, removes, attempt, since, until, begun, place, time, cause, id, list
        case timestamp, awaitsToken
    }

    var form: Int { timestamp != nil || awaitsToken ? StateForm.liveActivities : channel.form }

    init(_ scanner: inout JSONScanner) throws(ModelError) {
        var (channel, phase, time): (ChannelName?, Phase?, Timestamp?)
        var place = AppliedOffsets.Place()
        var trace = CarriedTrace.Scan()
        var operation = ScreenOperation(
            .remove,
            channel: .events,
            devices: [],
            at: .earliest,
            sequence: .init(life: 0, offset: -1, time: .earliest),
            trace: .none
        )
        try trace.object(of: Field.self, in: &scanner) { scanner, field throws(ModelError) in
            switch field {
            case .show: operation.goal = .show(try Showing(&scanner))
            case .quiet: operation.isQuiet = try scanner.boolean()
            case .channel: channel = try scanner.choice(ChannelName.self)
            case .devices: operation.devices = try scanner.texts()
            case .removes:
                try scanner.array { scanner, _ throws(ModelError) in operation.removes.append(try Showing(&scanner)) }
            case .attempt: operation.attempt = Int(try scanner.integer(in: 1...Int64(Int32.max)))
            case .since: phase = .inFlight(since: try scanner.timestamp())
            case .until: phase = .waiting(until: try scanner.timestamp())
            case .begun: operation.begun = try scanner.timestamp()
            case .place: place = try AppliedOffsets.Place(&scanner)
            case .time: time = try scanner.timestamp()
            case .cause: operation.cause = try scanner.requestID()
            case .id: operation.id = try scanner.uuid()
            case .list: operation.list = try scanner.array()
            case .timestamp: operation.timestamp = try scanner.integer(in: 0...Int64.max)
            case .awaitsToken: operation.awaitsToken = try scanner.boolean()
            }
        }
        operation.channel = try scanner.required(channel, Field.channel)
        operation.phase = try scanner.required(phase, Field.since)
        operation.sequence = OperationSequence(
            life: place.life,
            offset: place.offset,
            time: try scanner.required(time, Field.time)
        )
        operation.trace = trace.trace
        self = operation
    }

    package func writeJSON(to out: inout [UInt8]) {
        var object = JSONObjectWriter()
        object.member(Field.show, showing, &out)
        if isQuiet { object.member(Field.quiet, true, &out) }
        object.member(Field.channel, channel.rawValue, &out)
        if !devices.isEmpty { object.member(Field.devices, devices, &out) }
        if !removes.isEmpty { object.member(Field.removes, removes, &out) }
        object.member(Field.attempt, Int64(attempt), &out)
        switch phase {
        case .inFlight(let since): object.member(Field.since, since, &out)
        case .waiting(let until): object.member(Field.until, until, &out)
        }
        object.member(Field.begun, begun, &out)
        object.member(Field.place, AppliedOffsets.Place(life: sequence.life, offset: sequence.offset), &out)
        object.member(Field.time, sequence.time, &out)
        object.member(Field.cause, cause, &out)
        if let id { object.member(Field.id, RequestID.uuid(id), &out) }
        trace.write(&object, &out)
        if let list {
            object.begin(Field.list, &out)
            JSONWriter.append(raw: list, to: &out)
        }
        object.member(Field.timestamp, timestamp, &out)
        if awaitsToken { object.member(Field.awaitsToken, true, &out) }
        object.end(&out)
    }
}

extension JSONScanner {
    mutating func uuid() throws(ModelError) -> UUIDValue {
        guard case .uuid(let id) = try requestID() else { throw value("must be a UUID") }
        return id
    }

    /// An array, as it is.
    mutating func array() throws(ModelError) -> ArraySlice<UInt8> {
        guard peek() == 0x5B else { throw unexpected("an array") }
        let start = position
        try skipValue()
        return ArraySlice(bytes[start..<position])
    }
}
