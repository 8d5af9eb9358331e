extension StateEntry {
    /// A notification that the recipient's devices show.
    public struct Delivered: Sendable, Hashable {
        /// The request.
        public var requestID: RequestID
        /// The nominal instant of the trigger.
        public var occurrence: Timestamp?
        /// When the channel accepted it.
        public var at: Timestamp
        /// The channel that the request named.
        public var channel: ChannelName?
        /// What its responses are checked against and carry; nil in an entry of a version that did not keep it.
        public var details: Details?

        /// A delivered notification.
        public init(
            requestID: RequestID,
            occurrence: Timestamp? = nil,
            at: Timestamp,
            channel: ChannelName? = nil,
            details: Details? = nil
        ) {
            (self.requestID, self.occurrence, self.at, self.channel) = (requestID, occurrence, at, channel)
            self.details = details
        }
    }
}

extension StateEntry.Delivered {
    /// What a delivered notification keeps for what comes back. A class, so that entries stay small; equal by value.
    public final class Details: Sendable, Hashable {
        /// The content as delivered, a JSON object; nil when it is too large to be kept beside another one.
        public let content: ArraySlice<UInt8>?
        /// Its category as it was then; nil without one, or when it was not known.
        public let category: KeptCategory?
        /// The names of the devices that show it; empty when none of the recipient's devices was known.
        public let devices: [String]

        /// Details of a delivery.
        public init(content: ArraySlice<UInt8>?, category: KeptCategory?, devices: [String]) {
            (self.content, self.category, self.devices) = (content, category, devices)
        }

        /// The same on other devices.
        public func on(_ devices: [String]) -> Details {
            Details(content: content, category: category, devices: devices)
        }

        /// Compares the values.
        public static func == (one: Details, other: Details) -> Bool {
            one.devices == other.devices && one.content == other.content && one.category == other.category
        }

        /// Hashes the values.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(devices)
            hasher.combine(content)
        }
    }
}

extension StateEntry.Delivered: StatePart, JSONWritable {
    private enum Field: FieldName {
        case requestId, occurrence, at, channel, devices, category, content
    }

    // An older version does not need the details, and drops them.
    var form: Int { channel.form }

    /// - Parameter source: the scanned bytes; the details keep a slice of them.
    init(_ scanner: inout JSONScanner, of source: [UInt8]) throws(ModelError) {
        var (id, occurrence, at): (RequestID?, Timestamp?, Timestamp?)
        var channel: ChannelName?
        var (devices, category, content): ([String], KeptCategory?, ArraySlice<UInt8>?) = ([], nil, nil)
        try scanner.object { scanner, name throws(ModelError) in
            switch try scanner.field(name, of: Field.self) {
            case .requestId: id = try scanner.requestID()
            case .occurrence: occurrence = try scanner.timestamp()
            case .at: at = try scanner.timestamp()
            case .channel: channel = try scanner.choice(ChannelName.self)
            case .devices: devices = try scanner.texts()
            case .category: category = try KeptCategory(&scanner)
            case .content: content = try scanner.object(of: source)
            case nil: try scanner.skipValue()
            }
        }
        let hasDetails = content != nil || category != nil || !devices.isEmpty
        self.init(
            requestID: try scanner.required(id, Field.requestId),
            occurrence: occurrence,
            at: try scanner.required(at, Field.at),
            channel: channel,
            details: hasDetails ? Details(content: content, category: category, devices: devices) : nil
        )
    }

    func writeJSON(to out: inout [UInt8]) {
        var object = JSONObjectWriter()
        object.member(Field.requestId, requestID, &out)
        object.member(Field.occurrence, occurrence, &out)
        object.member(Field.at, at, &out)
        object.member(Field.channel, channel?.rawValue, &out)
        if let details {
            if !details.devices.isEmpty { object.member(Field.devices, details.devices, &out) }
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
