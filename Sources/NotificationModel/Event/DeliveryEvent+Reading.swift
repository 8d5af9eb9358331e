extension DeliveryEvent {
    /// Reads an event's value. Ignores unknown fields, as readers of events must.
    ///
    /// - Parameters:
    ///   - json: the record's value
    ///   - name: the event name from `ce_type`
    ///
    /// Throws `invalid` (or `not-utf8`, or `too-large`) with the missing or wrongly typed field.
    public init(json: [UInt8], name: DeliveryEventName) throws(ModelError) {
        self = try json.borrowed { bytes throws(ModelError) in
            var scanner = JSONScanner(bytes)
            return try scanner.whole { scanner throws(ModelError) in try scanner.deliveryEvent(name, in: json) }
        }
    }
}

private enum EventField: FieldName {
    case requestId, application, recipient, identifier, closes, occurrence, nextTriggerDate, until, first, last
    case count, replaces, by, into, known, reason, channel, device, content, enrichment, devices, actions, thread,
        expiration
    case outcome, reduced, detail, late, omitted, inDoubt
}

extension JSONScanner {
    fileprivate mutating func deliveryEvent(
        _ name: DeliveryEventName,
        in json: [UInt8]
    ) throws(ModelError) -> DeliveryEvent {
        var parts: (application: String, recipient: String, identifier: String) = ("", "", "")
        var event = DeliveryEvent(
            name: name,
            requestID: .uuid(UUIDValue(high: 0, low: 0)),
            key: try NotificationKey(application: "a", recipient: "r", identifier: ""),
            closes: false
        )
        let seen = try object(of: EventField.self, from: .record) { scanner, field throws(ModelError) in
            switch field {
            case .requestId: event.requestID = try scanner.requestID()
            case .application: parts.application = scanner.materialise(try scanner.string())
            case .recipient: parts.recipient = scanner.materialise(try scanner.string())
            case .identifier: parts.identifier = scanner.materialise(try scanner.string())
            case .closes: event.closes = try scanner.boolean()
            case .occurrence: event.occurrence = try scanner.timestamp()
            case .nextTriggerDate: event.nextTriggerDate = try scanner.timestamp()
            case .until: event.until = try scanner.timestamp()
            case .first: event.first = try scanner.timestamp()
            case .last: event.last = try scanner.timestamp()
            case .count: event.count = Int(try scanner.integer(in: 0...Int64.max))
            case .replaces: event.replaces = try scanner.requestID()
            case .by: event.by = try scanner.requestID()
            case .into: event.into = try scanner.requestID()
            case .known: event.known = try scanner.choice(DeliveryEvent.Known.self)
            case .reason: event.reason = try scanner.choice(ReasonCode.self)
            case .channel: event.channel = scanner.materialise(try scanner.string())
            case .device: event.device = scanner.materialise(try scanner.string())
            case .content: event.content = json[try scanner.slice(of: 0x7B, "an object")]
            case .enrichment: event.enrichment = json[try scanner.slice(of: 0x7B, "an object")]
            case .devices: event.devices = json[try scanner.slice(of: 0x5B, "an array")]
            case .actions: event.actions = json[try scanner.slice(of: 0x5B, "an array")]
            case .thread: event.thread = try DeliveryEvent.Thread(&scanner, of: json)
            case .expiration: event.expiration = try scanner.timestamp()
            case .outcome:
                let text = scanner.materialise(try scanner.string())
                (event.outcome, event.removal) = (.init(rawValue: text), .init(rawValue: text))
                guard event.outcome != nil || event.removal != nil else { throw scanner.value("is unknown") }
            // Readers pass over what they do not know.
            case .reduced: event.reduced = try scanner.texts().compactMap(ReducedPart.init(rawValue:))
            case .detail: event.detail = scanner.materialise(try scanner.string())
            case .late: event.isLate = try scanner.boolean()
            case .omitted: event.omitted = DeliveryEvent.Omissions(names: try scanner.texts())
            case .inDoubt: event.inDoubt = try scanner.boolean()
            }
        }
        try seen.require(.requestId, .application, .recipient, .identifier, .closes)
        event.key = try NotificationKey(
            application: parts.application,
            recipient: parts.recipient,
            identifier: parts.identifier
        )
        return event
    }

    /// The range of a value that begins with the given byte.
    mutating func slice(of opening: UInt8, _ expected: String) throws(ModelError) -> Range<Int> {
        guard peek() == opening else { throw unexpected(expected) }
        let start = position
        try skipValue()
        return start..<position
    }
}

extension DeliveryEvent.Thread {
    private enum Field: FieldName {
        case identifier, count, update
    }

    fileprivate init(_ scanner: inout JSONScanner, of json: [UInt8]) throws(ModelError) {
        var identifier: ArraySlice<UInt8>?
        var (count, isUpdate) = (Int64(1), false)
        try scanner.object(of: Field.self, from: .record) { scanner, field throws(ModelError) in
            switch field {
            case .identifier:
                let text = try scanner.string()
                identifier = json[text.start..<text.end]
            case .count: count = try scanner.integer(in: 1...Int64(Int32.max))
            case .update: isUpdate = try scanner.boolean()
            }
        }
        self.init(
            identifier: try scanner.required(identifier, Field.identifier),
            count: Int(count),
            isUpdate: isUpdate
        )
    }
}
