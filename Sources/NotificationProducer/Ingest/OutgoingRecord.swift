import Kafka
import NotificationModel

/// A record derived from a business event, for `requests` or `dead-letters`.
struct OutgoingRecord {
    enum Kind: Equatable {
        case request
        case deadLetter(ReasonCode)
    }

    var kind: Kind
    var partition: Int32
    var key: [UInt8]?
    var value: [UInt8]?
    var headers: KafkaHeaderBuffer
    /// The slot of its event in the ``OffsetTracker``.
    var slot: UInt
    /// The partition of its event.
    var source: Int32

    /// The record's tag, returned in its report: the slot, and what to count.
    var tag: UInt {
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
