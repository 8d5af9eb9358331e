package import NotificationModel

/// What is kept of a recipient in an application, beside the notifications: stored in the topic `state` under
/// `application/recipient/`, the key with an empty identifier.
///
/// Only the consumer service uses it. Readers ignore unknown fields, and refuse a newer form.
package struct RecipientRecord: Sendable, Hashable {
    /// Removals of all of the recipient's notifications, to recognize repeated records; the newest last.
    package var removals: [KnownRemoval] = []
    /// The regions that its notifications wait for, in the order of the requests.
    package var regions: [WaitingRegion] = []
    /// The devices whose fixes were applied to the regions; at most ``ModelLimits/locatedDevices``.
    package var devices: [LocatedDevice] = []
    /// The devices that were registered, in the order of their first registration.
    package var registrations: [RegisteredDevice] = []
    /// The categories with a cap, the one that was used last at the end; at most ``ModelLimits/cappedCategories``.
    package var capped: [CappedCategory] = []
    /// The digests that are being collected.
    package var digests: [DigestWindow] = []
    /// Who registered a token last; only under the hash of a token in place of a recipient.
    package var tokenOwner: TokenOwner?
    /// How far each input topic was applied to it. Fixes are applied by their own time: one that is read again is late.
    package var applied = Applied()
    /// When a record was last applied to it; the latest instant while it has what is not forgotten.
    package var touched = Timestamp(rawValue: 0)

    /// An empty record.
    package init() {}

    /// True when the record holds nothing to keep.
    package var isEmpty: Bool {
        removals.isEmpty && !isLasting && devices.isEmpty && capped.isEmpty && registrations.isEmpty && digests.isEmpty
    }

    /// Whether it holds what must not be forgotten, however long nothing is applied to it.
    package var isLasting: Bool {
        !regions.isEmpty || tokenOwner != nil || hasActiveDevice || digests.contains { !$0.members.isEmpty }
    }
}

extension RecipientRecord: StatePart {
    private enum Field: FieldName {
        case form, touched, offset, life, appliedDevices, appliedTokens, removals, regions, devices, registrations
        case capped, digests, tokenOwner
    }

    var form: Int {
        let former = max(removals.form, max(regions.form, devices.form))
        return max(max(former, registrations.form), max(capped.form, max(digests.form, tokenOwner.form)))
    }

    /// Reads a record; ignores unknown fields.
    ///
    /// Throws `unsupported-form` for a newer form, `invalid` with the missing or wrong field.
    package init(json: [UInt8]) throws(ModelError) {
        self = try json.borrowed { bytes throws(ModelError) in
            var scanner = JSONScanner(bytes)
            return try scanner.whole { scanner throws(ModelError) in try RecipientRecord(&scanner) }
        }
    }

    private init(_ scanner: inout JSONScanner) throws(ModelError) {
        var record = RecipientRecord()
        var form: Int64?
        try scanner.object(of: Field.self, from: .state) { scanner, field throws(ModelError) in
            switch field {
            case .form: form = try StateForm.read(&scanner, of: "recipient")
            case .touched: record.touched = try scanner.timestamp()
            case .offset: record.applied[.requests].offset = try scanner.integer(in: -1...Int64.max)
            case .life: record.applied[.requests].life = try scanner.integer(in: 0...Int64.max)
            case .appliedDevices: record.applied[.devices] = try AppliedOffsets.Place(&scanner)
            case .appliedTokens: record.applied[.tokens] = try AppliedOffsets.Place(&scanner)
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
            case .registrations:
                record.registrations.removeAll()
                try scanner.array { scanner, _ throws(ModelError) in
                    record.registrations.append(try RegisteredDevice(&scanner))
                }
            case .capped:
                record.capped.removeAll()
                try scanner.array { scanner, _ throws(ModelError) in record.capped.append(try CappedCategory(&scanner))
                }
            case .digests:
                record.digests.removeAll()
                try scanner.array { scanner, _ throws(ModelError) in record.digests.append(try DigestWindow(&scanner)) }
            case .tokenOwner: record.tokenOwner = try TokenOwner(&scanner)
            }
        }
        _ = try scanner.required(form, Field.form)
        for index in record.regions.indices { record.regions[index].fit(devices: record.devices.count) }
        self = record
    }

    /// Appends the record's JSON, the head first.
    package func write(to out: inout [UInt8]) {
        var object = JSONObjectWriter()
        object.member(Field.form, Int64(form), &out)
        object.member(Field.touched, touched, &out)
        object.member(Field.offset, applied[.requests].offset, &out)
        if applied[.requests].life > 0 { object.member(Field.life, applied[.requests].life, &out) }
        if applied[.devices] != .init() { object.member(Field.appliedDevices, applied[.devices], &out) }
        if applied[.tokens] != .init() { object.member(Field.appliedTokens, applied[.tokens], &out) }
        if !removals.isEmpty { object.member(Field.removals, removals, &out) }
        if !devices.isEmpty { object.member(Field.devices, devices, &out) }
        if !regions.isEmpty { object.member(Field.regions, regions, &out) }
        if !registrations.isEmpty { object.member(Field.registrations, registrations, &out) }
        if !capped.isEmpty { object.member(Field.capped, capped, &out) }
        if !digests.isEmpty { object.member(Field.digests, digests, &out) }
        object.member(Field.tokenOwner, tokenOwner, &out)
        object.end(&out)
    }

    /// The record's JSON.
    package var json: [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(256 + 448 * registrations.count + 384 * regions.count)
        write(to: &out)
        return out
    }
}
