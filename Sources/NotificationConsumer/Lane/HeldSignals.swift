import DequeModule
import Kafka
import NotificationModel

/// Signals that wait for the requests written before them: across the inputs of a partition, the record with the smallest
/// timestamp comes first.
///
/// A fix that is applied before the request which waits for it is lost to it, so a signal waits while `requests` has unread
/// records, until one of them is newer. Requests never wait: in normal operation both inputs are read to their end, and after
/// an outage a signal that comes late is applied as soon as it is read. So the order is best effort; the wait is bounded in
/// time and number.
///
/// A waiting signal is not read yet: the next owner reads it again.
///
/// A class, because an instant stored in a lane itself would make every access to it slower.
final class HeldSignals {
    /// How long signals may wait, and how many of a lane.
    static let patience = Duration.seconds(5)
    static let bound = 1000

    struct Held {
        var record: Intake.Record
        var copy: KafkaConsumerRecord
        var until: ContinuousClock.Instant
    }

    private var held: [Int32: Deque<Held>] = [:]
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }
    var isFull: Bool { count >= Self.bound }
    /// The partitions with waiting signals, in order.
    var numbers: [Int32] { held.keys.sorted() }

    func isHolding(_ number: Int32) -> Bool { held[number] != nil }

    func append(_ record: Intake.Record, _ copy: KafkaConsumerRecord, at now: ContinuousClock.Instant) {
        held[record.partition, default: []].append(
            Held(record: record, copy: copy, until: now.advanced(by: Self.patience))
        )
        count += 1
    }

    /// Takes the first signal of a partition if it satisfies a condition.
    func popFirst(of number: Int32, where condition: (Held) -> Bool) -> Held? {
        guard let first = held[number]?.first, condition(first) else { return nil }
        held[number]?.removeFirst()
        if held[number]?.isEmpty == true { held[number] = nil }
        count -= 1
        return first
    }

    /// The next owner reads them.
    func drop(_ number: Int32) { count -= held.removeValue(forKey: number)?.count ?? 0 }

    func dropAll() { (held, count) = ([:], 0) }
}
