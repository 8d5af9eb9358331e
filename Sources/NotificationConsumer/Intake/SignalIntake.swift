package import Kafka
package import NotificationModel

/// The headers that decide what a signal is.
package struct SignalHeaders: Sendable, Hashable {
    /// The header of a signal that was sent on, with the partition that it was in.
    package static let forwarded: KafkaHeaderName = "carillon-forwarded"
    private static let typeName: KafkaHeaderName = "ce_type"

    package enum Kind: Sendable, Hashable {
        /// There is no type.
        case missing
        case known(SignalType)
        /// Of another version or another program.
        case unknown
    }

    package var kind = Kind.missing
    /// It was in the partition of another recipient, and was sent on.
    package var isForwarded = false

    package init() {}

    init(_ message: borrowing KafkaMessage) {
        kind = message.withHeaderValue(Self.typeName) { Self.kind($0) }
        isForwarded = message.withHeaderValue(Self.forwarded) { $0 != nil }
    }

    /// The same from all headers of a record.
    package init(_ headers: [KafkaHeader]) {
        if let type = headers.last(where: { $0.name == SignalType.header })?.value {
            kind = type.withUnsafeBytes { Self.kind($0) }
        }
        isForwarded = headers.contains { $0.name == "carillon-forwarded" && $0.value != nil }
    }

    private static func kind(_ type: UnsafeRawBufferPointer?) -> Kind {
        guard let type else { return .missing }
        return SignalType(eventType: type).map { .known($0) } ?? .unknown
    }
}

/// Converts a record of the `signals` topic to an input of the center, or explains why it is invalid.
struct SignalIntake: Sendable {
    /// The partition a recipient belongs to: `murmur2(recipient) mod partitions`.
    let partition: @Sendable (String) -> Int32

    /// Reads a location.
    ///
    /// The other signals of the contract are for later releases. They become dead letters, so that none is lost: the dead
    /// letters hold the bytes, and can be published again.
    ///
    /// - Parameter life: the life of the topic to which the record's offset belongs.
    /// - Throws: `ModelError` with the reason for the dead letter; a misrouted record can be sent on.
    func fix(from record: Intake.Record, life: Int64, at now: Timestamp) throws(ModelError) -> CenterInput.Fix {
        guard let key = record.key else {
            throw ModelError(.invalid, field: "key", "the record has no key; a signal's key is its recipient")
        }
        let recipient = try SignalKey.recipient(of: key)
        // First of all: a signal is judged in its own partition.
        let home = partition(recipient)
        guard home == record.partition else {
            throw ModelError(
                .misrouted,
                field: "partition",
                "the recipient belongs to partition \(home), the record is in \(record.partition): "
                    + "partition by murmur2 of the recipient"
            )
        }
        switch record.signal.kind {
        case .known(.location): break
        case .known(let type):
            throw ModelError(.unsupportedForm, field: SignalType.header, "this release does not read \(type.eventType)")
        case .unknown:
            throw ModelError(
                .unsupportedForm,
                field: SignalType.header,
                "this release does not know the type; it reads \(SignalType.location.eventType)"
            )
        case .missing:
            throw ModelError(
                .invalid,
                field: SignalType.header,
                "is missing; a location has \(SignalType.location.eventType)"
            )
        }
        guard let value = record.value else { throw ModelError(.invalid, "the record has no value") }
        let fix = try LocationFix(json: value)
        try fix.checkTime(at: now)
        return CenterInput.Fix(
            recipient: recipient,
            fix: fix,
            position: .init(.signals, offset: record.offset, life: life),
            trace: record.trace,
            timestamp: Timestamp(rawValue: record.timestamp ?? now.rawValue)
        )
    }
}

extension Intake {
    /// Where a misrouted signal is sent on to; nil for a request, and for a signal that was sent on before.
    func home(ofMisrouted record: Record) -> Int32? {
        guard record.input == .signals, !record.signal.isForwarded, let key = record.key,
            let recipient = try? SignalKey.recipient(of: key)
        else { return nil }
        return signals.partition(recipient)
    }
}
