import NotificationModel

/// The lifecycle as sets: which requests count, which repeat an earlier one, which came too late, and what may close each.
///
/// It knows nothing of timing and shares no code with the center: it looks only at the order of the log.
struct ReferenceModel {
    /// A request that counts.
    struct Request {
        var record: PublishedRecord
        var request: PublishedRecord.Request
        /// It came after a newer version: closed by whoever brought that.
        var isOutdatedBy: RequestID?
    }

    /// What of a key may take a pending notification away, in the order of the log.
    private enum Step {
        case request(RequestID)
        case removal(RequestID, RemovalScope)
    }

    private struct Key {
        var steps: [(offset: Int64, step: Step)] = []
        var version: (number: Int64, by: RequestID)?
    }

    private(set) var requests: [RequestID: Request] = [:]
    /// In the order in which they came.
    private(set) var order: [RequestID] = []
    /// By id: the first removal of it, the only one that counts.
    private(set) var removals: [RequestID: PublishedRecord] = [:]
    private(set) var bad: [Place: ReasonCode] = [:]
    /// Records that repeat one that counts.
    private(set) var duplicates = 0
    private var keys: [NotificationKey: Key] = [:]
    private var keysOfRecipient: [ArraySlice<UInt8>: [NotificationKey]] = [:]
    /// Removals of all of a recipient's, for keys that come later.
    private var taken: [Int] = []

    init(partitions: Int32) {
        taken = Array(repeating: 0, count: Int(partitions))
    }

    /// Takes in what was published since the last call.
    mutating func follow(_ published: [[PublishedRecord]]) {
        for partition in published.indices {
            for record in published[partition][taken[partition]...] { add(record) }
            taken[partition] = published[partition].count
        }
    }

    private mutating func add(_ record: PublishedRecord) {
        guard let id = record.id, let key = record.key else {
            if case .bad(let reason) = record.content { bad[record.place] = reason }
            return
        }
        switch record.content {
        case .bad(let reason): bad[record.place] = reason
        case .request(let request): add(request, record, id, key)
        case .removal(let scope, let version): add(scope, version, record, id, key)
        }
    }

    private mutating func add(
        _ request: PublishedRecord.Request,
        _ record: PublishedRecord,
        _ id: RequestID,
        _ key: NotificationKey
    ) {
        guard requests[id] == nil else {
            duplicates += 1
            return
        }
        note(key)
        var entry = Request(record: record, request: request)
        if let version = request.version, let newest = keys[key]?.version, version < newest.number {
            entry.isOutdatedBy = newest.by
        } else {
            if let version = request.version { keys[key]?.version = (version, id) }
            keys[key]?.steps.append((record.offset, .request(id)))
        }
        requests[id] = entry
        order.append(id)
    }

    private mutating func add(
        _ scope: RemovalScope,
        _ version: Int64?,
        _ record: PublishedRecord,
        _ id: RequestID,
        _ key: NotificationKey
    ) {
        // A repeat changes nothing, whatever the first one found.
        guard removals[id] == nil else {
            duplicates += 1
            return
        }
        removals[id] = record
        guard !key.isWholeRecipient else {
            for other in keysOfRecipient[Self.recipient(key)] ?? [] {
                keys[other]?.steps.append((record.offset, .removal(id, scope)))
            }
            return
        }
        note(key)
        if let version {
            if let newest = keys[key]?.version, version < newest.number { return }
            keys[key]?.version = (version, id)
        }
        keys[key]?.steps.append((record.offset, .removal(id, scope)))
    }

    /// A request was refused: it is as if it had never come.
    mutating func suppress(_ id: RequestID) {
        guard let key = requests[id]?.record.key else { return }
        keys[key]?.steps.removeAll { step in
            if case .request(id) = step.step { true } else { false }
        }
    }

    private mutating func note(_ key: NotificationKey) {
        guard keys[key] == nil else { return }
        keys[key] = Key()
        keysOfRecipient[Self.recipient(key), default: []].append(key)
    }

    private static func recipient(_ key: NotificationKey) -> ArraySlice<UInt8> {
        key.encoded[...(key.encoded.lastIndex(of: 0x2F) ?? 0)]
    }

    // MARK: - Questions

    /// The one request of the key that may wait once everything before an offset was applied; nil when the last step took it.
    func mayWait(_ key: NotificationKey, before offset: Int64) -> RequestID? {
        var waiting: RequestID?
        for step in keys[key]?.steps ?? [] where step.offset < offset {
            switch step.step {
            case .request(let id): waiting = id
            case .removal(_, .delivered): break
            case .removal: waiting = nil
            }
        }
        return waiting
    }

    var allKeys: [NotificationKey] {
        keys.keys.sorted { $0.encoded.lexicographicallyPrecedes($1.encoded) }
    }

    /// Why the event may not close its request; nil when it may.
    func objection(to event: DeliveryEvent, usesChannel: Bool) -> String? {
        guard let entry = requests[event.requestID] else { return "it closes nothing that was published" }
        let request = entry.request
        switch event.name {
        case .delivered:
            return request.repeats ? "a repeat is not closed by a delivery" : nil
        case .superseded:
            guard let by = event.by else { return "it does not say by what" }
            if let newer = entry.isOutdatedBy { return by == newer ? nil : "a newer version came with \(newer.text)" }
            guard let other = requests[by], other.record.key == entry.record.key, other.isOutdatedBy == nil,
                other.record.offset > entry.record.offset
            else { return "\(by.text) is no later request of the key" }
            return nil
        case .cancelled:
            guard let by = event.by, let removal = removals[by] else { return "no removal is named" }
            guard removal.offset > entry.record.offset, removal.partition == entry.record.partition,
                case .removal(let scope, _) = removal.content, scope != .delivered, let key = removal.key,
                let own = entry.record.key,
                key == own || key.isWholeRecipient && Self.recipient(key) == Self.recipient(own)
            else { return "\(by.text) is no later removal of it" }
            return nil
        case .expired:
            let mayDrop = !request.repeats && request.interval != nil && [.next, .drop].contains(request.misfire)
            return request.expiration != nil || mayDrop ? nil : "it has no expiration"
        case .suppressed:
            return event.reason == .capped ? nil : "it is suppressed for no reason"
        case .failed:
            return usesChannel ? nil : "the delivery event cannot fail"
        default:
            return "\(event.name.rawValue) closes nothing here"
        }
    }

    /// When the occurrence may be handed over at the earliest.
    func earliest(_ id: RequestID, occurrence: Timestamp?) -> (Timestamp?, String?) {
        guard let entry = requests[id] else { return (nil, "unknown request") }
        let anchor = entry.record.timestamp
        guard let interval = entry.request.interval else {
            // A collapse window counts from the time of reading, and ends with the one it replaced.
            return (nil, occurrence == nil ? nil : "a push has no occurrence")
        }
        guard let occurrence else { return (nil, "an interval has an occurrence") }
        let (count, rest) = (occurrence.rawValue - anchor.rawValue).quotientAndRemainder(dividingBy: interval)
        guard rest == 0, count >= 1, entry.request.repeats || count == 1 else {
            return (nil, "\(occurrence) is no instant of the trigger")
        }
        return (occurrence, nil)
    }
}
