package import NotificationModel

extension RecipientRecord {
    /// Who registered a token last. It is kept under the hash of the token in place of a recipient, so that the owner of that
    /// partition decides between two recipients.
    package struct TokenOwner: Sendable, Hashable {
        /// The key of the device: application, recipient and device.
        package var device: NotificationKey
        /// When its registration was written.
        package var writtenAt: Timestamp

        /// An owner.
        package init(device: NotificationKey, writtenAt: Timestamp) {
            (self.device, self.writtenAt) = (device, writtenAt)
        }
    }

    /// Applies a claim: the registration that was written later owns the token, and of two at the same time the one whose claim
    /// is read later.
    ///
    /// - Returns: the device of another recipient that has lost it, and the time before which its registration was written;
    ///   nil when nobody has.
    package mutating func claim(_ claim: TokenClaim) -> (loser: NotificationKey, gone: Timestamp)? {
        guard let owner = tokenOwner else {
            if !claim.isReleased { tokenOwner = TokenOwner(device: claim.owner, writtenAt: claim.writtenAt) }
            return nil
        }
        if claim.isReleased {
            // One that was published again ends no later registration.
            if owner.device == claim.owner, claim.writtenAt >= owner.writtenAt { tokenOwner = nil }
            return nil
        }
        let isNewer = claim.writtenAt >= owner.writtenAt
        if isNewer { tokenOwner = TokenOwner(device: claim.owner, writtenAt: claim.writtenAt) }
        guard !owner.device.isSameRecipient(as: claim.owner) else { return nil }
        let loser = isNewer ? owner.device : claim.owner
        let (won, lost) = isNewer ? (claim.writtenAt, owner.writtenAt) : (owner.writtenAt, claim.writtenAt)
        // A retirement needs a time after the registration that it ends.
        return (loser, max(won, lost.adding(milliseconds: 1)))
    }
}

extension RecipientRecord.TokenOwner: StatePart, JSONWritable {
    private enum Field: FieldName {
        case device, writtenAt
    }

    var form: Int { StateForm.devices }

    init(_ scanner: inout JSONScanner) throws(ModelError) {
        var (device, writtenAt): (NotificationKey?, Timestamp?)
        try scanner.object(of: Field.self, from: .state) { scanner, field throws(ModelError) in
            switch field {
            case .device:
                let text = try scanner.string()
                let bytes = try scanner.withBytes(text) { bytes throws(ModelError) in Array(bytes) }
                device = try NotificationKey(encoded: bytes)
            case .writtenAt: writtenAt = try scanner.timestamp()
            }
        }
        self.init(
            device: try scanner.required(device, Field.device),
            writtenAt: try scanner.required(writtenAt, Field.writtenAt)
        )
    }

    package func writeJSON(to out: inout [UInt8]) {
        var object = JSONObjectWriter()
        object.member(Field.device, String(decoding: device.encoded, as: UTF8.self), &out)
        object.member(Field.writtenAt, writtenAt, &out)
        object.end(&out)
    }
}
