package import Kafka
package import NotificationModel
import NotificationState

/// The headers that decide what a signal is.
package struct SignalHeaders: Sendable, Hashable {
    // As `SignalType` has them.
    private static let forwardedName: KafkaHeaderName = "carillon-forwarded"
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
        isForwarded = message.withHeaderValue(Self.forwardedName) { $0 != nil }
    }

    /// The same from all headers of a record.
    package init(_ headers: [KafkaHeader]) {
        if let type = headers.last(where: { $0.name == SignalType.header })?.value {
            kind = type.withUnsafeBytes { Self.kind($0) }
        }
        isForwarded = headers.contains { $0.name == SignalType.forwardedHeader && $0.value != nil }
    }

    private static func kind(_ type: UnsafeRawBufferPointer?) -> Kind {
        guard let type else { return .missing }
        return SignalType(eventType: type).map { .known($0) } ?? .unknown
    }
}

/// Converts a record of the `signals` topic to an input of the center, or explains why it is invalid.
struct SignalIntake: Sendable {
    /// For signals that name no application.
    let application: String
    /// The partition a recipient belongs to: `murmur2(recipient) mod partitions`.
    let partition: @Sendable (String) -> Int32

    /// - Parameter life: the life of the topic to which the record's offset belongs.
    /// - Throws: `ModelError` with the reason for the dead letter; a misrouted record can be sent on.
    func input(from record: Intake.Record, life: Int64, at now: Timestamp) throws(ModelError) -> CenterInput {
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
        let type = try type(of: record)
        guard let value = record.value else { throw ModelError(.invalid, "the record has no value") }
        let signal = try Signal(type, json: value)
        let written = Timestamp(rawValue: record.timestamp ?? now.rawValue)
        let position = CenterInput.Position(.signals, offset: record.offset, life: life)
        // A device's clock that is far ahead would make all that follows late.
        try signal.checkTime(at: now)
        if case .location(let fix) = signal {
            return .fix(
                .init(recipient: recipient, fix: fix, position: position, trace: record.trace, timestamp: written)
            )
        }
        try Intake.check(written, at: now)
        return .signal(
            .init(
                recipient: try NotificationKey(
                    application: signal.application ?? application,
                    recipient: recipient,
                    identifier: ""
                ),
                signal: signal,
                position: position,
                trace: record.trace,
                timestamp: written
            )
        )
    }

    private func type(of record: Intake.Record) throws(ModelError) -> SignalType {
        switch record.signal.kind {
        case .known(let type): return type
        case .unknown:
            throw ModelError(
                .unsupportedForm,
                field: SignalType.header,
                "this release does not know the type; it reads \(Self.known)"
            )
        case .missing:
            throw ModelError(.invalid, field: SignalType.header, "is missing; it is one of \(Self.known)")
        }
    }

    private static let known = SignalType.allCases.map(\.eventType).joined(separator: ", ")
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
