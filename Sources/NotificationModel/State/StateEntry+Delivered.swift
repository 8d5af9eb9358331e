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

        /// A delivered notification.
        public init(requestID: RequestID, occurrence: Timestamp? = nil, at: Timestamp, channel: ChannelName? = nil) {
            (self.requestID, self.occurrence, self.at, self.channel) = (requestID, occurrence, at, channel)
        }
    }
}

extension StateEntry.Delivered: StatePart, JSONWritable {
    private enum Field: FieldName {
        case requestId, occurrence, at, channel
    }

    var form: Int { channel.form }

    init(_ scanner: inout JSONScanner) throws(ModelError) {
        var (id, occurrence, at): (RequestID?, Timestamp?, Timestamp?)
        var channel: ChannelName?
        try scanner.object { scanner, name throws(ModelError) in
            switch try scanner.field(name, of: Field.self) {
            case .requestId: id = try scanner.requestID()
            case .occurrence: occurrence = try scanner.timestamp()
            case .at: at = try scanner.timestamp()
            case .channel: channel = try scanner.choice(ChannelName.self)
            case nil: try scanner.skipValue()
            }
        }
        self.init(
            requestID: try scanner.required(id, Field.requestId),
            occurrence: occurrence,
            at: try scanner.required(at, Field.at),
            channel: channel
        )
    }

    func writeJSON(to out: inout [UInt8]) {
        var object = JSONObjectWriter()
        object.member(Field.requestId, requestID, &out)
        object.member(Field.occurrence, occurrence, &out)
        object.member(Field.at, at, &out)
        object.member(Field.channel, channel?.rawValue, &out)
        object.end(&out)
    }
}
