extension RecipientRecord {
    /// Who registered a token last. It is kept under the hash of the token in place of a recipient, so that the owner of that
    /// partition decides between two recipients.
    public struct TokenOwner: Sendable, Hashable {
        /// The key of the device: application, recipient and device.
        public var device: NotificationKey
        /// When it was registered.
        public var registeredAt: Timestamp

        /// An owner.
        public init(device: NotificationKey, registeredAt: Timestamp) {
            (self.device, self.registeredAt) = (device, registeredAt)
        }
    }

    /// Applies a claim: the later registration owns the token, and of two at the same time the one that is read later.
    ///
    /// - Returns: the device of another recipient that has lost it, and the time from which on its registration counts as
    ///   gone; nil when nobody has.
    public mutating func claim(_ claim: TokenClaim) -> (loser: NotificationKey, gone: Timestamp)? {
        guard let owner = tokenOwner else {
            if !claim.isReleased { tokenOwner = TokenOwner(device: claim.owner, registeredAt: claim.registeredAt) }
            return nil
        }
        if claim.isReleased {
            if owner.device == claim.owner { tokenOwner = nil }
            return nil
        }
        let isNewer = claim.registeredAt >= owner.registeredAt
        if isNewer { tokenOwner = TokenOwner(device: claim.owner, registeredAt: claim.registeredAt) }
        guard !owner.device.isSameRecipient(as: claim.owner) else { return nil }
        let loser = isNewer ? owner.device : claim.owner
        let (won, lost) =
            isNewer ? (claim.registeredAt, owner.registeredAt) : (owner.registeredAt, claim.registeredAt)
        // A retirement needs a time after the registration that it ends.
        return (loser, max(won, lost.adding(milliseconds: 1)))
    }
}

extension RecipientRecord.TokenOwner: StatePart, JSONWritable {
    private enum Field: FieldName {
        case device, registeredAt
    }

    var form: Int { StateForm.devices }

    init(_ scanner: inout JSONScanner) throws(ModelError) {
        var (device, registeredAt): (NotificationKey?, Timestamp?)
        try scanner.object { scanner, name throws(ModelError) in
            switch try scanner.field(name, of: Field.self) {
            case .device:
                let text = try scanner.string()
                let bytes = try scanner.withBytes(text) { bytes throws(ModelError) in Array(bytes) }
                device = try NotificationKey(encoded: bytes)
            case .registeredAt: registeredAt = try scanner.timestamp()
            case nil: try scanner.skipValue()
            }
        }
        self.init(
            device: try scanner.required(device, Field.device),
            registeredAt: try scanner.required(registeredAt, Field.registeredAt)
        )
    }

    func writeJSON(to out: inout [UInt8]) {
        var object = JSONObjectWriter()
        object.member(Field.device, String(decoding: device.encoded, as: UTF8.self), &out)
        object.member(Field.registeredAt, registeredAt, &out)
        object.end(&out)
    }
}
