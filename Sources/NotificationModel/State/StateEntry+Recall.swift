extension StateEntry {
    /// Devices that must remove what they show under the identifier, as soon as nothing else is being sent.
    public struct Recall: Sendable, Hashable {
        /// The channel that the request of what they show named.
        public var channel: ChannelName?
        /// The names of the devices; empty for all that the gateway knows.
        public var devices: [String]
        /// The removal, response, request or retirement that asks for it.
        public var id: RequestID
        /// The trace of that.
        public var trace: CarriedTrace

        /// A recall.
        public init(channel: ChannelName?, devices: [String], id: RequestID, trace: CarriedTrace) {
            (self.channel, self.devices, self.id, self.trace) = (channel, devices, id, trace)
        }
    }
}

extension StateEntry.Recall: StatePart, JSONWritable {
    private enum Field: FieldName {
        case channel, devices, id
    }

    // An older version does not recall from a device, and drops it.
    var form: Int { StateForm.first }

    init(_ scanner: inout JSONScanner) throws(ModelError) {
        var (channel, devices, id): (ChannelName?, [String], RequestID?) = (nil, [], nil)
        var trace = CarriedTrace.Scan()
        try scanner.object { scanner, name throws(ModelError) in
            switch try scanner.field(name, of: Field.self) {
            case .channel: channel = try scanner.choice(ChannelName.self)
            case .devices: devices = try scanner.texts()
            case .id: id = try scanner.requestID()
            case nil: try trace.read(name, &scanner)
            }
        }
        self.init(channel: channel, devices: devices, id: try scanner.required(id, Field.id), trace: trace.trace)
    }

    func writeJSON(to out: inout [UInt8]) {
        var object = JSONObjectWriter()
        object.member(Field.channel, channel?.rawValue, &out)
        if !devices.isEmpty { object.member(Field.devices, devices, &out) }
        object.member(Field.id, id, &out)
        trace.write(&object, &out)
        object.end(&out)
    }
}
