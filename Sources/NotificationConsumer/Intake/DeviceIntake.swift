import NotificationModel
import NotificationState

/// Converts records of the topics `devices` and `tokens` to inputs of the center, or explains why they are invalid.
struct DeviceIntake: Sendable {
    /// The time zones that a device may be in.
    let zones: TimeZones
    /// The partition of a recipient, or of a token's hash: `murmur2(component) mod partitions`.
    let partition: @Sendable (String) -> Int32

    /// Reads the registration of a device, or its end.
    ///
    /// - Parameter life: the life of the topic to which the record's offset belongs.
    /// - Throws: `ModelError` with the reason for the dead letter.
    func registration(
        from record: Intake.Record,
        life: Int64,
        at now: Timestamp
    ) throws(ModelError) -> CenterInput.Registration {
        guard let bytes = record.key else {
            throw ModelError(
                .invalid,
                field: "key",
                "the record has no key; a registration needs a key application/recipient/device"
            )
        }
        let key = try NotificationKey(encoded: bytes)
        guard !key.isWholeRecipient else { throw ModelError(.invalid, field: "key", "the key names no device") }
        try checkHome(of: key.recipient, record)
        let written = Timestamp(rawValue: record.timestamp ?? now.rawValue)
        try Intake.check(written, at: now)
        var registration = try record.value.map { bytes throws(ModelError) in try DeviceRegistration(json: bytes) }
        try registration?.check(zones: zones.database, at: now)
        if registration?.registeredAt == nil { registration?.registeredAt = written }
        return .init(
            key: key,
            registration: registration,
            position: .init(.devices, offset: record.offset, life: life),
            trace: record.trace,
            timestamp: written
        )
    }

    /// Reads who has registered a token.
    ///
    /// - Parameter life: the life of the topic to which the record's offset belongs.
    /// - Throws: `ModelError` with the reason for the dead letter.
    func claim(from record: Intake.Record, life: Int64) throws(ModelError) -> CenterInput.Claim {
        guard let bytes = record.key, let value = record.value else {
            throw ModelError(.invalid, field: "key", "a claim of a token has the token's hash as its key, and a value")
        }
        let hash = String(decoding: bytes, as: UTF8.self)
        let claim = try TokenClaim(json: value)
        let token = try NotificationKey(application: claim.owner.application, recipient: hash, identifier: "")
        try checkHome(of: token.recipient, record)
        return .init(
            token: token,
            claim: claim,
            position: .init(.tokens, offset: record.offset, life: life),
            trace: record.trace
        )
    }

    private func checkHome(of component: String, _ record: Intake.Record) throws(ModelError) {
        let home = partition(component)
        guard home != record.partition else { return }
        throw ModelError(
            .misrouted,
            field: "partition",
            "the record belongs to partition \(home), and is in \(record.partition): partition by murmur2 of the "
                + "recipient, or of the token's hash"
        )
    }
}

extension Intake {
    /// Throws `in-future` at `timestamp` for a record that was written too far ahead of the clock.
    static func check(_ written: Timestamp, at now: Timestamp) throws(ModelError) {
        guard written.rawValue > now.rawValue + RequestIntake.futureTolerance else { return }
        throw ModelError(
            .inFuture,
            field: "timestamp",
            "the record's timestamp \(written.rfc3339) is in the future: check the producing host's clock"
        )
    }
}
