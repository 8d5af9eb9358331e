package import NotificationModel

extension StateEntry {
    /// A notification that the recipient's devices show.
    package struct Delivered: Sendable, Hashable {
        /// The request.
        package var requestID: RequestID
        /// The nominal instant of the trigger.
        package var occurrence: Timestamp?
        /// How often it was delivered again; see ``Showing/round``.
        package var round: Int
        /// When the channel accepted it.
        package var at: Timestamp
        /// The channel that the request named.
        package var channel: ChannelName?
        /// What its responses are checked against and carry; nil in an entry of a version that did not keep it.
        package var details: Details?

        /// A delivered notification.
        package init(
            requestID: RequestID,
            occurrence: Timestamp? = nil,
            round: Int = 0,
            at: Timestamp,
            channel: ChannelName? = nil,
            details: Details? = nil
        ) {
            self.requestID = requestID
            self.occurrence = occurrence
            self.round = round
            self.at = at
            self.channel = channel
            self.details = details
        }

        /// What its targets show.
        package var showing: Showing { Showing(requestID, occurrence, round: round) }

        /// The names of the devices that show it; empty when no device is known.
        package var devices: [String] { details?.devices ?? [] }
    }
}

extension StateEntry.Delivered {
    /// What a delivered notification keeps for what comes back. A class, so that entries stay small; equal by value.
    package final class Details: Sendable, Hashable {
        /// The content as delivered, a JSON object; nil when it is too large to be kept beside another one.
        package let content: ArraySlice<UInt8>?
        /// Its category as it was then; nil without one, or when it was not known.
        package let category: KeptCategory?
        /// The names of the devices that show it; empty when none of the recipient's devices was known.
        package let devices: [String]
        /// What they showed before: a device whose gateway reports that it has refused this one shows it still. Nil when that is
        /// not known, or nothing.
        package let former: Former?
        /// The span of its event, to which the span of a response has a link; nil when it was not traced.
        package let span: SpanContext?

        /// What devices showed before.
        package struct Former: Sendable, Hashable {
            /// The notification.
            package var showing: Showing
            /// The names of the devices; those of the details when they are the same.
            package var devices: [String]

            /// What some devices showed.
            package init(_ showing: Showing, on devices: [String]) { (self.showing, self.devices) = (showing, devices) }
        }

        /// Details of a delivery.
        package init(
            content: ArraySlice<UInt8>?,
            category: KeptCategory?,
            devices: [String],
            former: Former? = nil,
            span: SpanContext? = nil
        ) {
            (self.content, self.category, self.devices, self.former) = (content, category, devices, former)
            self.span = span
        }

        /// The same on other devices.
        package func on(_ devices: [String]) -> Details {
            Details(content: content, category: category, devices: devices, former: former, span: span)
        }

        /// The same without the content.
        package var withoutContent: Details {
            Details(content: nil, category: category, devices: devices, former: former, span: span)
        }

        /// Compares the values.
        package static func == (one: Details, other: Details) -> Bool {
            one.devices == other.devices && one.content == other.content && one.category == other.category
                && one.former == other.former && one.span == other.span
        }

        /// Hashes the values.
        package func hash(into hasher: inout Hasher) {
            hasher.combine(devices)
            hasher.combine(content)
        }
    }
}

extension StateEntry.Delivered: StatePart, JSONWritable {
    private enum Field: FieldName {
        case requestId, occurrence, round, at, channel, devices, former, formerDevices, category, content, span
    }

    // An older version does not need the details, and drops them; a Live Activity it would restore as a notification.
    var form: Int {
        let form = max(channel.form, details?.content.map(StateForm.of) ?? StateForm.first)
        return round > 0 ? max(form, StateForm.screens) : form
    }

    /// - Parameter source: the scanned bytes; the details keep a slice of them.
    init(_ scanner: inout JSONScanner, of source: [UInt8]) throws(ModelError) {
        var (id, occurrence, at): (RequestID?, Timestamp?, Timestamp?)
        var channel: ChannelName?
        var (devices, category, content): ([String], KeptCategory?, ArraySlice<UInt8>?) = ([], nil, nil)
        var round = Int64(0)
        var (former, formerDevices): (Showing?, [String]?)
        var span: SpanContext?
        try scanner.object(of: Field.self, from: .state) { scanner, field throws(ModelError) in
            switch field {
            case .requestId: id = try scanner.requestID()
            case .occurrence: occurrence = try scanner.timestamp()
            case .round: round = try scanner.integer(in: 0...Int64(Int32.max))
            case .at: at = try scanner.timestamp()
            case .channel: channel = try scanner.choice(ChannelName.self)
            case .devices: devices = try scanner.texts()
            case .former: former = try Showing(&scanner)
            case .formerDevices: formerDevices = try scanner.texts()
            case .category: category = try KeptCategory(&scanner)
            case .content: content = try scanner.object(of: source)
            case .span: span = TraceContext(traceparent: scanner.materialise(try scanner.string()))?.sampled
            }
        }
        let hasDetails = content != nil || category != nil || !devices.isEmpty || span != nil
        self.init(
            requestID: try scanner.required(id, Field.requestId),
            occurrence: occurrence,
            round: Int(round),
            at: try scanner.required(at, Field.at),
            channel: channel,
            details: hasDetails
                ? Details(
                    content: content,
                    category: category,
                    devices: devices,
                    former: former.map { .init($0, on: formerDevices ?? devices) },
                    span: span
                ) : nil
        )
    }

    package func writeJSON(to out: inout [UInt8]) {
        var object = JSONObjectWriter()
        object.member(Field.requestId, requestID, &out)
        object.member(Field.occurrence, occurrence, &out)
        if round > 0 { object.member(Field.round, Int64(round), &out) }
        object.member(Field.at, at, &out)
        object.member(Field.channel, channel?.rawValue, &out)
        if let details {
            if !details.devices.isEmpty { object.member(Field.devices, details.devices, &out) }
            if let former = details.former {
                object.member(Field.former, former.showing, &out)
                if former.devices != details.devices { object.member(Field.formerDevices, former.devices, &out) }
            }
            object.member(Field.span, details.span?.traceparent, &out)
            if let category = details.category {
                object.begin(Field.category, &out)
                JSONWriter.append(raw: category.json[...], to: &out)
            }
            if let content = details.content {
                object.begin(Field.content, &out)
                JSONWriter.append(raw: content, to: &out)
            }
        }
        object.end(&out)
    }
}
