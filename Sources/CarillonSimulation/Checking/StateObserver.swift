import Kafka
import NotificationModel
import NotificationState

/// Reads the changelog as a restore does, and compares it with the events.
final class StateObserver {
    private struct Partition {
        var position: Int64 = 0
        var entries: [NotificationKey: StateEntry] = [:]
        var recipients: [NotificationKey: RecipientRecord] = [:]
        /// Requests in entries that a paused owner overwrote with older entries: without transactions nothing fences the
        /// changelog, and a later owner cannot find them.
        var overwritten: Set<RequestID> = []
        var marker: StateMarker?
        /// The latest `firedThrough` of any marker.
        var firedThrough: Timestamp?
        /// The base of the marker's offset.
        var base: Int64 = 0
        /// It has changed since the last comparison.
        var isNew = false
    }

    private let broker: SimulatedBroker
    private let topics: TopicNames
    /// How far `firedThrough` is ahead of the owner's clock, in milliseconds.
    private static let aheadOfClock: Int64 = 1000

    /// The base of a partition's offsets in `requests`, see `RequestLog`.
    private let base: (Int32) -> Int64
    private let isExactlyOnce: Bool
    /// Owners may be paused or wait long for an answer: an earlier owner may write late.
    private let isDisturbed: Bool
    private var partitions: [Partition]

    init(
        broker: SimulatedBroker,
        topics: TopicNames,
        isExactlyOnce: Bool,
        isDisturbed: Bool,
        base: @escaping (Int32) -> Int64
    ) {
        self.base = base
        (self.broker, self.topics, self.isExactlyOnce) = (broker, topics, isExactlyOnce)
        self.isDisturbed = isDisturbed
        partitions = Array(repeating: Partition(), count: Int(broker.partitionCount(of: topics.state)))
    }

    /// Up to when the timers of a partition may have fired, according to any marker so far. A later marker has an earlier
    /// limit if the clock was set back, while notifications that fired before still wait for the channel.
    func firedThrough(_ partition: Int32) -> Timestamp? { partitions[Int(partition)].firedThrough }

    /// The next request that a new owner of the partition reads, according to the committed marker.
    func resumption(_ partition: Int32) -> Int64 {
        let found = partitions[Int(partition)]
        return found.base + (found.marker?.offsets[topics.requests] ?? 0)
    }

    /// The next record of an input that a new owner of the partition reads, according to the committed marker.
    func next(_ topic: String, _ partition: Int32) -> Int64 { partitions[Int(partition)].marker?.offsets[topic] ?? 0 }

    /// Requests that were applied, but may not be in the changelog yet: a restore replays them.
    func untold(_ partition: Int32) -> Range<Int64> {
        let found = partitions[Int(partition)]
        guard let marker = found.marker, let first = marker.replay[topics.requests],
            let next = marker.offsets[topics.requests]
        else { return 0..<0 }
        let end = max(first, min(next, marker.replayEnd[topics.requests] ?? next))
        return found.base + first..<found.base + end
    }

    /// Whether every partition has a marker.
    var hasAllMarkers: Bool { partitions.allSatisfy { $0.marker != nil } }

    /// Whether a send or a recall is in progress or between two attempts.
    var isSending: Bool {
        partitions.contains {
            $0.entries.values.contains { $0.handover != nil || $0.screen?.operations.isEmpty == false }
        }
    }

    /// When what waits for the token of a Live Activity stops waiting, where nothing else is being sent; in order.
    var tokenWaits: [Timestamp]? {
        var ends: [Timestamp] = []
        for entry in partitions.lazy.flatMap(\.entries.values) {
            guard entry.handover != nil || entry.screen?.operations.isEmpty == false else { continue }
            guard entry.handover?.start == nil, let operations = entry.screen?.operations, !operations.isEmpty else {
                return nil
            }
            for operation in operations {
                guard operation.awaitsToken, let end = operation.nextAttempt else { return nil }
                ends.append(end)
            }
        }
        return ends.sorted()
    }

    /// Whether a crossing was read by a clock that was ahead, which was set back before it was sent: it waits for that time.
    func awaitsFormerClock(_ id: RequestID, of key: NotificationKey, at now: Timestamp) -> Bool {
        partitions.contains { partition in
            guard let pending = partition.entries[key]?.pending, pending.requestID == id,
                case .region(let wait) = pending.timer
            else { return false }
            return wait.isCrossed && pending.due.map { $0 > now } ?? false
        }
    }

    /// When what waits by the changelog is due.
    var dues: some Sequence<Timestamp> {
        partitions.lazy.flatMap(\.entries.values).compactMap { $0.pending?.due }
    }

    /// Whether the key has a delivered notification in the changelog.
    func isDelivered(_ key: NotificationKey) -> Bool { partitions.contains { $0.entries[key]?.delivered != nil } }

    /// Whether an occurrence is what is delivered under a key by the changelog.
    func isDelivered(_ key: NotificationKey, _ showing: Showing) -> Bool {
        partitions.contains { $0.entries[key]?.delivered?.showing.isSameOccurrence(as: showing) ?? false }
    }

    /// Whether the content of what is delivered under a key is kept, so that it can be delivered again.
    func keepsContent(of key: NotificationKey) -> Bool {
        partitions.contains { $0.entries[key]?.delivered?.details?.content != nil }
    }

    /// The devices that show what is delivered under a key; nil where none is known.
    func devices(of key: NotificationKey) -> [String]? {
        for partition in partitions {
            guard let devices = partition.entries[key]?.delivered?.details?.devices, !devices.isEmpty else { continue }
            return devices
        }
        return nil
    }

    /// Whether a device is known to show an occurrence by the changelog, whatever else it may show.
    func shows(_ showing: Showing, of key: NotificationKey, on device: String) -> Bool {
        partitions.contains {
            guard let entry = $0.entries[key] else { return false }
            if let target = entry.screen?.targets.first(where: { $0.device == device }) {
                return target.sure?.isSameOccurrence(as: showing) ?? false
            }
            guard let delivered = entry.delivered, delivered.showing.isSameOccurrence(as: showing) else { return false }
            return delivered.devices.containsUTF8(of: device)
        }
    }

    /// Whether a device goes on showing what it showed when it refused the next notification, and the entry knows that.
    func isLeft(_ showing: Showing, of key: NotificationKey, on device: String) -> Bool {
        partitions.contains {
            $0.entries[key]?.screen?.targets.contains { target in
                target.isLeft && target.device == device && target.surelyShows(showing)
            } ?? false
        }
    }

    /// Each token belongs to one recipient. At rest every claim and every retirement was applied.
    func checkTokens() throws(Violation) {
        var owners: [String: NotificationKey] = [:]
        for (key, record) in partitions.flatMap({ $0.recipients }).sorted(by: { $0.key.text < $1.key.text }) {
            for device in record.registrations where device.isActive {
                let hash = device.registration.tokenHash(application: key.application)
                if let other = owners.updateValue(key, forKey: hash), other != key {
                    throw Violation(.token, "\(key.text) and \(other.text) have one token")
                }
            }
        }
    }

    /// A key with an entry in the changelog.
    var remembered: NotificationKey? { partitions.lazy.compactMap { $0.entries.first?.key }.first }

    /// Reads the records that were committed since the last call.
    func follow(_ observer: Observer) throws(Violation) {
        for number in partitions.indices {
            let log = broker.log(topics.state, Int32(number))
            guard partitions[number].position < log.lastStable else { continue }
            let (records, position) = log.read(from: partitions[number].position, committed: true)
            partitions[number].position = position
            for record in records {
                let isMarker = try take(record, number)
                // Without transactions the changelog of a restore may end after any record.
                if isMarker, !isExactlyOnce { try compare(number, observer) }
            }
            partitions[number].isNew = true
        }
        try checkAddedPartitions()
        // An open transaction of another lane hides the committed events after it.
        guard isExactlyOnce, isStable(topics.deliveries) else { return }
        for number in partitions.indices where partitions[number].isNew {
            let log = broker.log(topics.state, Int32(number))
            guard log.lastStable == log.end else { continue }
            partitions[number].isNew = false
            try compare(number, observer)
        }
    }

    private func checkAddedPartitions() throws(Violation) {
        for number in Int32(partitions.count)..<max(Int32(partitions.count), broker.partitionCount(of: topics.state)) {
            let log = broker.log(topics.state, number)
            guard log.lastStable > 0, let record = log.read(from: 0, committed: true, atMost: 1).records.first else {
                continue
            }
            throw Violation(.partitionCount, "\(number)/\(record.offset), in a partition that was added")
        }
    }

    /// Whether the changelog contains a request as pending or being sent.
    func holds(_ id: RequestID, of key: NotificationKey, in partition: Int32) -> Bool {
        partitions[Int(partition)].entries[key]?.holds(id) ?? false
    }

    /// Whether a request is at a channel, or is the next of its key for a channel: it has no event before its outcome.
    func isForChannel(_ id: RequestID, of key: NotificationKey, in partition: Int32) -> Bool {
        guard let entry = partitions[Int(partition)].entries[key] else { return false }
        return entry.handover?.showing.requestID == id
            || entry.pending?.requestID == id && entry.pending?.timer == .turn
    }

    /// Whether a removal under a key, or of all of a recipient's, waits for the answer of a channel.
    func isAwaited(_ removal: RequestID, of key: NotificationKey, in partition: Int32) -> Bool {
        func waits(for entry: StateEntry) -> Bool {
            [entry.handover?.cancelledBy, entry.handover?.removedBy].contains(removal)
        }
        let entries = partitions[Int(partition)].entries
        guard key.isWholeRecipient else { return entries[key].map(waits) ?? false }
        return entries.contains { $0.key.isSameRecipient(as: key) && waits(for: $0.value) }
    }

    private func isStable(_ topic: String) -> Bool {
        (0..<broker.partitionCount(of: topic)).allSatisfy {
            let log = broker.log(topic, $0)
            return log.lastStable == log.end
        }
    }

    /// - Returns: whether it is the marker.
    private func take(_ record: LogRecord, _ number: Int) throws(Violation) -> Bool {
        let bytes = record.key ?? []
        var marker: StateMarker?
        do throws(ModelError) {
            if bytes == StateMarker.key {
                if let value = record.value { marker = try StateMarker(json: value) }
            } else {
                let key = try NotificationKey(encoded: bytes)
                guard !key.isWholeRecipient else {
                    partitions[number].recipients[key] = try record.value.map { value throws(ModelError) in
                        try RecipientRecord(json: value)
                    }
                    return false
                }
                var entry: StateEntry?
                // Nothing is planned here, so no zone is looked up.
                if let value = record.value { entry = try StateEntry(json: value, zones: nil) }
                noteOverwritten(key, with: entry, number)
                partitions[number].entries[key] = entry
            }
        } catch {
            throw Violation(.state, "\(number)/\(record.offset): \(error.detail)")
        }
        if let marker { try take(marker, number, record.offset) }
        return bytes == StateMarker.key
    }

    private func noteOverwritten(_ key: NotificationKey, with entry: StateEntry?, _ number: Int) {
        guard !isExactlyOnce, isDisturbed, let entry, let old = partitions[number].entries[key],
            entry.applied[.requests].life == old.applied[.requests].life,
            entry.applied[.requests] < old.applied[.requests]
        else { return }
        partitions[number].overwritten.formUnion(Set(old.held).subtracting(entry.held))
    }

    private func take(_ marker: StateMarker, _ number: Int, _ offset: Int64) throws(Violation) {
        let next = marker.offsets[topics.requests] ?? 0
        let (before, nextBefore) = (partitions[number].marker, resumption(Int32(number)))
        (partitions[number].marker, partitions[number].base) = (marker, base(Int32(number)))
        if let firedThrough = marker.firedThrough {
            partitions[number].firedThrough = max(firedThrough, partitions[number].firedThrough ?? firedThrough)
        }
        let name = "\(number)/\(offset)"
        guard Int(marker.partitions) == partitions.count else {
            throw Violation(.partitionCount, "\(name) has \(marker.partitions) instead of \(partitions.count)")
        }
        guard next <= broker.log(topics.requests, Int32(number)).lastStable else {
            throw Violation(.marker, "\(name) has offset \(next), which does not exist yet")
        }
        guard marker.replay[topics.requests] ?? next <= next else {
            throw Violation(.marker, "\(name) has a replay offset after \(next)")
        }
        guard let before else { return }
        // Without transactions nothing fences a late marker of an earlier owner, even if it is the first of the changelog.
        guard isExactlyOnce || !isDisturbed else { return }
        guard marker.lineage == before.lineage else {
            throw Violation(.marker, "\(name) has another lineage")
        }
        let reached = resumption(Int32(number))
        guard reached >= nextBefore else {
            throw Violation(.marker, "\(name) goes back from \(nextBefore) to \(reached)")
        }
        // Timers may have fired up to the previous marker's limit, even if the clock was set back since.
        let fired = before.wallTime.adding(milliseconds: Self.aheadOfClock)
        guard let firedThrough = marker.firedThrough, firedThrough >= min(fired, before.firedThrough ?? fired) else {
            throw Violation(
                .marker,
                "\(name) has an earlier firedThrough: \(marker.firedThrough.map { "\($0)" } ?? "-")"
            )
        }
    }

    /// Requests that are open according to the events are in the changelog, and in exactly-once there are no others.
    private func compare(_ number: Int, _ observer: Observer) throws(Violation) {
        let next = resumption(Int32(number))
        observer.lose(partitions[number].overwritten)
        var expected: [RequestID] = []
        for id in observer.open {
            guard let entry = observer.model.requests[id], entry.record.partition == Int32(number),
                entry.record.offset < next
            else { continue }
            expected.append(id)
            guard let key = entry.record.key, partitions[number].entries[key]?.holds(id) == true else {
                throw Violation(
                    .state,
                    "\(id.text.prefix(8)) at \(entry.record.place) is open and not in the changelog as of \(next)"
                )
            }
        }
        guard isExactlyOnce else { return }
        let held = held(in: number)
        guard Set(held) == Set(expected) else {
            let wrong = Set(held).symmetricDifference(expected).map { String($0.text.prefix(8)) }.sorted()
            throw Violation(.state, "\(wrong.joined(separator: ", ")) in the changelog of \(number) as of \(next)")
        }
    }

    private func held(in number: Int) -> [RequestID] {
        // A digest is no request.
        partitions[number].entries.filter { !LoopLog.isDigest($0.key) }.values.flatMap(\.held)
    }

    /// How many requests the changelog holds although events have closed them, or an owner that was paused had overwritten them: without
    /// transactions the next owner may let wait what the one before has ended, whose events were written and its changelog not, and
    /// reads again what a late marker says.
    func reopened(_ observer: Observer) -> Int {
        guard !isExactlyOnce else { return 0 }
        return partitions.indices.flatMap(held).count { observer.closings[$0] != nil || observer.lost.contains($0) }
    }
}

extension StateEntry {
    /// The requests that are pending or being sent.
    fileprivate var held: [RequestID] {
        var ids: [RequestID] = []
        if let pending { ids.append(pending.requestID) }
        if let handover, handover.closes, !handover.isClosed { ids.append(handover.showing.requestID) }
        return ids
    }

    fileprivate func holds(_ id: RequestID) -> Bool { held.contains(id) }
}
