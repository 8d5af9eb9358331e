import Kafka
import NotificationModel
import NotificationState

/// The region of all location triggers of a run: across the date line.
enum SimulatedRegion {
    static let region = CircularRegion(latitude: 10, longitude: 179.9999, radius: 300)
    static let json = "\"region\":{\"latitude\":10,\"longitude\":179.9999,\"radius\":300}"

    /// A fix on a side of its boundary, or one that may be on both.
    static func fix(_ side: RegionSide?, device: String, at: Timestamp) -> LocationFix {
        LocationFix(
            device: device,
            latitude: side == .outside ? 10.01 : 10,
            longitude: -179.9999,
            accuracy: side == nil ? 5_000 : 20,
            at: at
        )
    }
}

/// The records of `signals` as readers get them, and what they may and must cause. It shares no code with the center, and
/// does not know when a fix was applied: across topics the order is best effort.
final class FixLog {
    struct Fix {
        var recipient: String
        var device: String
        var side: RegionSide?
        var at: Timestamp
    }

    private let broker: SimulatedBroker
    private let topic: String
    private let home: (String) -> Int32
    private var positions: [Int64]
    /// By recipient, in the order of the log.
    private var fixes: [String: [Fix]] = [:]
    /// Fixes in the partition of another recipient, which are not sent on yet.
    private var astray: [String: Place] = [:]
    /// Fixes from too far in the future, without dead letters so far.
    private(set) var bad: Set<Place> = []
    private var buried: Set<Place> = []
    private let isExactlyOnce: Bool

    init(broker: SimulatedBroker, topic: String, isExactlyOnce: Bool) {
        let count = broker.partitionCount(of: topic)
        (self.broker, self.topic, self.isExactlyOnce) = (broker, topic, isExactlyOnce)
        home = { KafkaPartitioner.partition(forKey: Array($0.utf8), count: count) }
        positions = Array(repeating: 0, count: Int(count))
    }

    func home(of recipient: String) -> Int32 { home(recipient) }

    var partitions: Int32 { Int32(positions.count) }

    /// Reads the records that were committed since the last call.
    func follow() {
        for number in positions.indices {
            let log = broker.log(topic, Int32(number))
            guard positions[number] < log.lastStable else { continue }
            let (records, position) = log.read(from: positions[number], committed: true)
            positions[number] = position
            for record in records { take(record, Int32(number)) }
        }
    }

    private func take(_ record: LogRecord, _ number: Int32) {
        guard let value = record.value, let fix = try? LocationFix(json: value),
            let recipient = try? SignalKey.recipient(of: record.key ?? [])
        else { return }
        let place = Place(partition: number, offset: record.offset)
        let name = "\(recipient) \(fix.device) \(fix.at)"
        guard home(recipient) == number else {
            astray[name] = place
            return
        }
        if record.headers.contains(where: { $0.name == "carillon-forwarded" }) { astray[name] = nil }
        guard fix.at.rawValue < record.timestamp + 86_400_000 else {
            if !buried.contains(place) { bad.insert(place) }
            return
        }
        let side: RegionSide? = fix.accuracy > 1_000 ? nil : fix.latitude > 10.005 ? .outside : .inside
        fixes[recipient, default: []].append(Fix(recipient: recipient, device: fix.device, side: side, at: fix.at))
    }

    /// A fix that is neither sent on nor a dead letter.
    var unanswered: String? {
        if let name = astray.keys.sorted().first { return "the fix of \(name) is not sent on yet" }
        return bad.min().map { "the fix at \($0) has no dead letter yet" }
    }

    func take(deadLetter place: Place, _ reason: String) throws(Violation) {
        guard reason == ReasonCode.inFuture.rawValue, bad.remove(place) != nil || !isExactlyOnce else {
            throw Violation(.deadLetters, "the signal at \(place) is a good record, or came twice: \(reason)")
        }
        buried.insert(place)
    }

    // MARK: - Crossings

    /// Why no fix can have caused an occurrence; nil if one can.
    func objection(to occurrence: Timestamp?, of request: PublishedRecord.Request, for recipient: String) -> String? {
        guard let occurrence else { return "a crossing has an instant" }
        let crossings = crossings(request, recipient)
        if crossings.contains(occurrence) { return nil }
        // Crossings of several devices that are read in another order are a millisecond apart: as many follow a crossing
        // as others came before it.
        let others = crossings.count { $0 < occurrence } - 1
        for step in stride(from: 1, through: Int64(others), by: 1)
        where crossings.contains(occurrence.adding(milliseconds: -step)) {
            return nil
        }
        return "no fix crosses the boundary at \(occurrence)"
    }

    /// The instants of fixes that cross the boundary in a direction that counts, wherever the first one that was applied is:
    /// at least the crossings of the request, each as often as devices cross at that instant.
    func crossings(_ request: PublishedRecord.Request, _ recipient: String) -> [Timestamp] {
        Dictionary(grouping: fixes[recipient] ?? [], by: \.device).values.flatMap { fixes in
            var found: Set<Timestamp> = []
            for first in fixes.indices {
                guard let began = fixes[first].side else { continue }
                // The next fix that is on the other side and not late.
                var latest = fixes[first].at
                for fix in fixes[(first + 1)...] where fix.at > latest {
                    latest = fix.at
                    guard let side = fix.side, side != began else { continue }
                    if side == .inside ? request.onEntry : request.onExit { found.insert(fix.at) }
                    break
                }
            }
            return Array(found)
        }
    }
}
