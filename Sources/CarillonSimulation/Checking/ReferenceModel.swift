import NotificationModel

/// The lifecycle as sets: which requests are valid, which repeat an earlier request, which arrived too late, and which
/// events may close each of them.
///
/// It shares no code with the center and ignores time: it uses only the order of the log.
struct ReferenceModel {
    /// A valid request, without its repeats.
    struct Request {
        var record: PublishedRecord
        var request: PublishedRecord.Request
        /// The request with a newer version that arrived before it.
        var isOutdatedBy: RequestID?
    }

    /// An input of a key that replaces or removes a pending notification.
    private enum Step {
        case request(RequestID)
        case removal(RequestID, RemovalScope)
    }

    private struct Key {
        var steps: [(offset: Int64, step: Step)] = []
        var version: (number: Int64, by: RequestID)?
    }

    private(set) var requests: [RequestID: Request] = [:]
    /// In the order of their arrival.
    private(set) var order: [RequestID] = []
    /// By id: the first removal with it; the others are repeats.
    private(set) var removals: [RequestID: PublishedRecord] = [:]
    /// By id: the key under which events say that something was removed because of it.
    var ends: [RequestID: NotificationKey] = [:]
    private var suppressed: Set<RequestID> = []
    private(set) var bad: [Place: ReasonCode] = [:]
    /// The number of records that repeat an earlier one.
    private(set) var duplicates = 0
    private var keys: [NotificationKey: Key] = [:]
    private var keysOfRecipient: [ArraySlice<UInt8>: [NotificationKey]] = [:]
    /// By partition: how many published records were added.
    private var taken: [Int] = []
    /// Of devices; nil without location triggers.
    let fixes: FixLog?

    init(partitions: Int32, fixes: FixLog? = nil) {
        self.fixes = fixes
        taken = Array(repeating: 0, count: Int(partitions))
    }

    /// Adds the records published since the last call.
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
        if request.isActivity {
            keys[key]?.steps.append((record.offset, .request(id)))
        } else if let version = request.version, let newest = keys[key]?.version, version < newest.number {
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
        // A repeat changes nothing, even if the first removal found nothing.
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

    /// A request was suppressed: it has no effect.
    mutating func suppress(_ id: RequestID) { suppressed.insert(id) }

    private mutating func note(_ key: NotificationKey) {
        guard keys[key] == nil else { return }
        keys[key] = Key()
        keysOfRecipient[Self.recipient(key), default: []].append(key)
    }

    private static func recipient(_ key: NotificationKey) -> ArraySlice<UInt8> {
        key.encoded[...(key.encoded.lastIndex(of: 0x2F) ?? 0)]
    }

    // MARK: - Questions

    /// The only request of the key that may be pending after all inputs before an offset; nil if there is none.
    ///
    /// - Parameter restored: a request that only another owner has suppressed.
    func mayWait(_ key: NotificationKey, before offset: Int64, restored: RequestID? = nil) -> RequestID? {
        var waiting: RequestID?
        for step in keys[key]?.steps ?? [] where step.offset < offset {
            switch step.step {
            case .request(let id): if id == restored || !suppressed.contains(id) { waiting = id }
            case .removal(_, .delivered): break
            case .removal: waiting = nil
            }
        }
        return waiting
    }

    var allKeys: [NotificationKey] {
        keys.keys.sorted { $0.encoded.lexicographicallyPrecedes($1.encoded) }
    }

    /// Why the event may not close its request; nil if it may.
    func objection(to event: DeliveryEvent, usesChannel: Bool) -> String? {
        guard let entry = requests[event.requestID] else { return "it closes no published request" }
        let request = entry.request
        switch event.name {
        case .delivered:
            return request.repeats ? "a repeat is not closed by a delivery" : nil
        case .superseded:
            guard let by = event.by else { return "it has no `by`" }
            // The timestamps of pushes count as versions, and what took the last one depends on the clock.
            if request.isActivity, request.version != nil, let key = entry.record.key,
                let other = (requests[by]?.record ?? removals[by])?.key ?? ends[by]
            {
                return other == key || other == key.ofRecipient ? nil : "\(by.text) is of another key"
            }
            if let newer = entry.isOutdatedBy {
                return by == newer ? nil : "a newer version arrived with \(newer.text)"
            }
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
            let mayDrop = !request.repeats && request.isTimed && [.next, .drop].contains(request.misfire)
            return request.expiration != nil || mayDrop ? nil : "it has no expiration"
        case .suppressed:
            if event.reason == .notEnriched, request.isEnriched { return nil }
            return event.reason == .capped ? nil : "it is suppressed without a reason"
        case .failed:
            return usesChannel ? nil : "the delivery event cannot fail"
        default:
            return "\(event.name.rawValue) closes nothing here"
        }
    }

    /// The earliest time at which the occurrence may be handed over.
    func earliest(_ id: RequestID, occurrence: Timestamp?) -> (Timestamp?, String?) {
        guard let entry = requests[id] else { return (nil, "unknown request") }
        let anchor = entry.record.timestamp
        if entry.request.isOfRegion {
            let recipient = entry.record.key?.recipient ?? ""
            return (nil, fixes?.objection(to: occurrence, of: entry.request, for: recipient))
        }
        guard entry.request.isTimed else {
            // A collapse window starts when its request is read, and ends with the window of the request that it replaces.
            return (nil, occurrence == nil ? nil : "a push has no occurrence")
        }
        guard let occurrence else { return (nil, "a trigger has an occurrence") }
        guard let number = entry.request.number(of: occurrence, from: anchor), entry.request.repeats || number == 1
        else {
            return (nil, "\(occurrence) is no instant of the trigger")
        }
        return (occurrence, nil)
    }
}
