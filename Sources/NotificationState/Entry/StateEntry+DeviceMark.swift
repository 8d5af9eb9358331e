package import NotificationModel

extension StateEntry {
    /// What a device, or the gateway in front of it, has told about a request, or one occurrence of it: each once.
    package struct DeviceMark: Sendable, Hashable {
        /// A kind of receipt or report.
        package struct Kinds: OptionSet, Sendable, Hashable {
            /// One bit for each.
            package let rawValue: UInt8
            /// Kinds by their bits.
            package init(rawValue: UInt8) { self.rawValue = rawValue }
            /// The device has received it.
            package static let received = Kinds(rawValue: 1)
            /// The device has presented it.
            package static let presented = Kinds(rawValue: 2)
            /// The person has opened it.
            package static let opened = Kinds(rawValue: 4)
            /// The gateway has accepted it.
            package static let accepted = Kinds(rawValue: 8)
            /// The gateway has refused it, or the device is not registered any more.
            package static let refused = Kinds(rawValue: 16)
            /// The gateway tries again.
            package static let deferred = Kinds(rawValue: 32)

            static let letters: [(letter: UInt8, kind: Kinds)] = [
                (0x72, .received), (0x70, .presented), (0x6F, .opened), (0x61, .accepted), (0x78, .refused),
                (0x64, .deferred),
            ]
        }

        /// The request.
        package var requestID: RequestID
        /// The nominal instant of the trigger; nil without one, or before the first.
        package var occurrence: Timestamp?
        /// The device.
        package var device: String
        /// What was told.
        package var kinds: Kinds

        /// A mark.
        package init(requestID: RequestID, occurrence: Timestamp? = nil, device: String, kinds: Kinds) {
            (self.requestID, self.occurrence, self.device, self.kinds) = (requestID, occurrence, device, kinds)
        }
    }
}

extension StateEntry.DeviceMark: StatePart, JSONWritable {
    private enum Field: FieldName {
        case requestId, occurrence, device, kinds
    }

    // An older version does not need it, and drops it.
    var form: Int { StateForm.first }

    init(_ scanner: inout JSONScanner) throws(ModelError) {
        var (id, occurrence, device): (RequestID?, Timestamp?, String?)
        var kinds = Kinds()
        try scanner.object(of: Field.self, from: .state) { scanner, field throws(ModelError) in
            switch field {
            case .requestId: id = try scanner.requestID()
            case .occurrence: occurrence = try scanner.timestamp()
            case .device: device = scanner.materialise(try scanner.string())
            case .kinds:
                let text = try scanner.string()
                try scanner.withBytes(text) { bytes throws(ModelError) in
                    for (letter, kind) in Kinds.letters where bytes.contains(letter) { kinds.insert(kind) }
                }
            }
        }
        self.init(
            requestID: try scanner.required(id, Field.requestId),
            occurrence: occurrence,
            device: try scanner.required(device, Field.device),
            kinds: kinds
        )
    }

    package func writeJSON(to out: inout [UInt8]) {
        var object = JSONObjectWriter()
        object.member(Field.requestId, requestID, &out)
        object.member(Field.occurrence, occurrence, &out)
        object.member(Field.device, device, &out)
        object.begin(Field.kinds, &out)
        out.append(0x22)
        for (letter, kind) in Kinds.letters where kinds.contains(kind) { out.append(letter) }
        out.append(0x22)
        object.end(&out)
    }
}
