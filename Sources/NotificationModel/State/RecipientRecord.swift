/// What is kept of a recipient in an application, beside the notifications: stored in the topic `state` under
/// `application/recipient/`, the key with an empty identifier.
///
/// Only the consumer service uses it. Readers ignore unknown fields, and refuse a newer form.
public struct RecipientRecord: Sendable, Hashable {
    /// Removals of all of the recipient's notifications, to recognize repeated records; the newest last.
    public var removals: [KnownRemoval] = []
    /// The regions that its notifications wait for, in the order of the requests.
    public var regions: [WaitingRegion] = []
    /// The devices whose fixes were applied to the regions; at most ``ModelLimits/locatedDevices``.
    public var devices: [LocatedDevice] = []
    /// How far `requests` was applied to it. Fixes are applied by their own time: one that is read again is late.
    public var applied = AppliedOffsets()
    /// When a record was last applied to it; the latest instant while it has regions, which are not forgotten.
    public var touched = Timestamp(rawValue: 0)

    /// An empty record.
    public init() {}

    /// True when the record holds nothing to keep.
    public var isEmpty: Bool { removals.isEmpty && regions.isEmpty && devices.isEmpty }
}

extension RecipientRecord: StatePart {
    private enum Field: FieldName {
        case form, touched, offset, life, removals, regions, devices
    }

    var form: Int { max(removals.form, max(regions.form, devices.form)) }

    /// Reads a record; ignores unknown fields.
    ///
    /// Throws `unsupported-form` for a newer form, `invalid` with the missing or wrong field.
    public init(json: [UInt8]) throws(ModelError) {
        self = try json.borrowed { bytes throws(ModelError) in
            var scanner = JSONScanner(bytes)
            return try scanner.whole { scanner throws(ModelError) in try RecipientRecord(&scanner) }
        }
    }

    private init(_ scanner: inout JSONScanner) throws(ModelError) {
        var record = RecipientRecord()
        var form: Int64?
        try scanner.object { scanner, name throws(ModelError) in
            switch try scanner.field(name, of: Field.self) {
            case .form: form = try StateForm.read(&scanner, of: "recipient")
            case .touched: record.touched = try scanner.timestamp()
            case .offset: record.applied[.requests].offset = try scanner.integer(in: -1...Int64.max)
            case .life: record.applied[.requests].life = try scanner.integer(in: 0...Int64.max)
            case .removals:
                record.removals.removeAll()
                try scanner.array { scanner, _ throws(ModelError) in record.removals.append(try KnownRemoval(&scanner))
                }
            case .regions:
                record.regions.removeAll()
                try scanner.array { scanner, _ throws(ModelError) in record.regions.append(try WaitingRegion(&scanner))
                }
            case .devices:
                record.devices.removeAll()
                try scanner.array { scanner, _ throws(ModelError) in record.devices.append(try LocatedDevice(&scanner))
                }
            case nil: try scanner.skipValue()
            }
        }
        _ = try scanner.required(form, Field.form)
        for index in record.regions.indices { record.regions[index].fit(devices: record.devices.count) }
        self = record
    }

    /// Appends the record's JSON, the head first.
    public func write(to out: inout [UInt8]) {
        var object = JSONObjectWriter()
        object.member(Field.form, Int64(form), &out)
        object.member(Field.touched, touched, &out)
        object.member(Field.offset, applied[.requests].offset, &out)
        if applied[.requests].life > 0 { object.member(Field.life, applied[.requests].life, &out) }
        if !removals.isEmpty { object.member(Field.removals, removals, &out) }
        if !devices.isEmpty { object.member(Field.devices, devices, &out) }
        if !regions.isEmpty { object.member(Field.regions, regions, &out) }
        object.end(&out)
    }

    /// The record's JSON.
    public var json: [UInt8] {
        var out: [UInt8] = []
        write(to: &out)
        return out
    }
}
