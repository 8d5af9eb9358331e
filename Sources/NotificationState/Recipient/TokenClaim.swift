package import NotificationModel

/// Who registered a token last: a value of the compacted topic `tokens`. The record's key is
/// ``DeviceRegistration/tokenHash(application:)``.
package struct TokenClaim: Sendable, Hashable {
    /// Application, recipient and, as the identifier, the device.
    package var owner: NotificationKey
    /// When the record was written that registered it, or ended that.
    package var writtenAt: Timestamp
    /// Whether the owner has given it up.
    package var isReleased: Bool

    /// A claim.
    package init(owner: NotificationKey, writtenAt: Timestamp, isReleased: Bool = false) {
        (self.owner, self.writtenAt, self.isReleased) = (owner, writtenAt, isReleased)
    }
}

extension TokenClaim {
    private enum Field: FieldName {
        case application, recipient, device, writtenAt, released
    }

    /// Reads the value of a record; ignores unknown fields.
    ///
    /// Throws `invalid`, `too-large` or `not-utf8` with the missing or wrong field.
    package init(json: [UInt8]) throws(ModelError) {
        self = try JSONScanner.read(json, atMost: ModelLimits.deviceBytes) { scanner throws(ModelError) in
            try TokenClaim(&scanner)
        }
    }

    private init(_ scanner: inout JSONScanner) throws(ModelError) {
        var (application, recipient, device): (String?, String?, String?)
        var writtenAt: Timestamp?
        var released: Bool?
        try scanner.object(of: Field.self, from: .state) { scanner, field throws(ModelError) in
            switch field {
            case .application: application = try scanner.keyComponent()
            case .recipient: recipient = try scanner.keyComponent()
            case .device: device = try scanner.keyComponent()
            case .writtenAt: writtenAt = try scanner.timestamp()
            case .released: released = try scanner.boolean()
            }
        }
        try self.init(
            owner: .device(
                scanner.required(device, Field.device),
                of: scanner.required(recipient, Field.recipient),
                in: scanner.required(application, Field.application)
            ),
            writtenAt: scanner.required(writtenAt, Field.writtenAt),
            isReleased: released ?? false
        )
    }

    /// The value of a record.
    package var json: [UInt8] {
        var out: [UInt8] = []
        var object = JSONObjectWriter()
        object.member(Field.application, owner.application, &out)
        object.member(Field.recipient, owner.recipient, &out)
        object.member(Field.device, owner.identifier, &out)
        object.member(Field.writtenAt, writtenAt, &out)
        if isReleased { object.member(Field.released, true, &out) }
        object.end(&out)
        return out
    }
}
