import Kafka
import NotificationModel

/// A record derived from an event.
struct OutgoingRecord {
    enum Kind: Equatable {
        case request
        case deadLetter(ReasonCode)
    }

    var record: LinkRecord<IngestTopic>
    /// The partition of its event.
    var source: IngestPartition

    /// The slot of its event in the ``OffsetTracker``.
    var slot: UInt { Self.read(tag: record.tag).slot }

    /// The tag of a record, returned in its report: the slot of its event, and what to count.
    static func tag(of kind: Kind, in slot: UInt) -> UInt {
        switch kind {
        case .request: slot << 8
        case .deadLetter(let reason): slot << 8 | UInt((ReasonCode.allCases.firstIndex(of: reason) ?? 0) + 1)
        }
    }

    static func read(tag: UInt) -> (slot: UInt, kind: Kind) {
        let code = Int(tag & 0xFF)
        guard code > 0, code <= ReasonCode.allCases.count else { return (tag >> 8, .request) }
        return (tag >> 8, .deadLetter(ReasonCode.allCases[code - 1]))
    }
}
