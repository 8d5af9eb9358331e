import Kafka
import NotificationConsumer
import NotificationModel
import NotificationState

/// Reads the committed records that the pipeline publishes, and checks each of them.
final class Observer {
    private let broker: SimulatedBroker
    private let topics: TopicNames
    private let published: () -> [[PublishedRecord]]
    /// The base of a partition's offsets in `requests`, see `RequestLog`.
    private let base: (Int32) -> Int64
    private let isExactlyOnce: Bool
    /// Of notifications that name none.
    private let channel: ChannelName
    private var usesChannel: Bool { channel != .events }
    /// Owners may be paused: an earlier owner may work at the same time as its successor for a moment.
    private let isDisturbed: Bool
    /// The limit of a partition.
    private let maximumEntries: Int
    private let note: (String) -> Void

    /// Called with dead letters of business events.
    var onEventLetter: (LogRecord, Place, String) throws(Violation) -> Void = { _, _, _ in }
    /// What comes back from devices; nil in runs without.
    var loop: LoopLog?
    /// Whether the changelog has a request of a partition as pending or being sent.
    var isHeld: (RequestID, NotificationKey, Int32) -> Bool = { _, _, _ in false }
    /// No clock was ever far off.
    var wereClocksRight = true
    private(set) var model: ReferenceModel
    private var deliveryPositions: [Int64]
    private var deadLetterPositions: [Int64]

    private(set) var events: [ObservedEvent] = []
    private var eventsByID: [String: Int] = [:]
    /// The requests and removals that events are of, or name as their cause.
    private(set) var answered: Set<RequestID> = []
    /// What was delivered again under a key, and the devices that have accepted it then: without transactions an owner that is late may
    /// deliver something older in between, and the next one may know other devices.
    private(set) var deliveredAgain: [NotificationKey: (showing: Showing, devices: [String])] = [:]
    /// By request: its events, without repeats.
    private var eventsOfRequest: [RequestID: [Int]] = [:]
    /// By request: the events that closed it, without repeats.
    private(set) var closings: [RequestID: [Int]] = [:]
    /// Requests whose last event says that they wait, also one that is published again.
    private var opened: Set<RequestID> = []
    private(set) var deadLetters: [Place: Int] = [:]
    private(set) var lost: Set<RequestID> = []
    private var forgotten: Set<RequestID> = []
    private var order: OrderChecks

    init(
        broker: SimulatedBroker,
        topics: TopicNames,
        published: @escaping () -> [[PublishedRecord]],
        base: @escaping (Int32) -> Int64 = { _ in 0 },
        partitions: Int32,
        isExactlyOnce: Bool,
        channel: ChannelName,
        isDisturbed: Bool = false,
        maximumEntries: Int = Scenario.manyEntries,
        fixes: FixLog? = nil,
        note: @escaping (String) -> Void
    ) {
        (self.maximumEntries, self.base, self.isDisturbed) = (maximumEntries, base, isDisturbed)
        (self.broker, self.topics, self.published) = (broker, topics, published)
        (self.isExactlyOnce, self.channel, self.note) = (isExactlyOnce, channel, note)
        model = ReferenceModel(partitions: partitions, fixes: fixes)
        order = OrderChecks(isExactlyOnce: isExactlyOnce, usesChannel: channel != .events)
        deliveryPositions = Array(repeating: 0, count: Int(broker.partitionCount(of: topics.deliveries)))
        deadLetterPositions = Array(repeating: 0, count: Int(broker.partitionCount(of: topics.deadLetters)))
    }

    /// Reads the records that were committed since the last call.
    func follow() throws(Violation) {
        model.follow(published())
        model.fixes?.follow()
        try loop?.follow()
        // Dead letters first: then an event of a bad record is detected as a violation.
        for partition in deadLetterPositions.indices {
            let log = broker.log(topics.deadLetters, Int32(partition))
            guard deadLetterPositions[partition] < log.lastStable else { continue }
            let (records, position) = log.read(from: deadLetterPositions[partition], committed: true)
            deadLetterPositions[partition] = position
            for record in records { try take(deadLetter: record) }
        }
        for partition in deliveryPositions.indices {
            let log = broker.log(topics.deliveries, Int32(partition))
            guard deliveryPositions[partition] < log.lastStable else { continue }
            let (records, position) = log.read(from: deliveryPositions[partition], committed: true)
            deliveryPositions[partition] = position
            for record in records {
                let type = record.headers.last { $0.name == "ce_type" }?.value
                if let name = type.flatMap({ DeviceEvent.Name(type: String(decoding: $0, as: UTF8.self)) }) {
                    try loop?.take(deviceEvent: record.value ?? [], name)
                } else {
                    try take(ObservedEvent(record, partition: Int32(partition)))
                }
            }
        }
    }

    /// Valid requests that are not closed, and that retention did not delete before they were read.
    var open: [RequestID] { model.order.filter { closings[$0] == nil && !lost.contains($0) } }

    /// Notes unread requests that are deleted from a partition.
    func lose(_ partition: Int32, from first: Int64, before end: Int64) {
        for record in published()[Int(partition)] where (first..<max(first, end)).contains(record.offset) {
            if let id = record.id { lost.insert(id) }
        }
    }

    /// Notes requests that no owner can find any more.
    func lose(_ ids: Set<RequestID>) { lost.formUnion(ids) }

    /// Notes requests and removals whose events are published, but whose entries are in neither the changelog nor `requests`.
    func forget(_ partition: Int32, _ offsets: Range<Int64>) {
        for record in published()[Int(partition)] where offsets.contains(record.offset) {
            if let id = record.id { forgotten.insert(id) }
        }
    }

    /// A removal that has removed nothing and missed nothing so far.
    var unansweredRemoval: RequestID? {
        model.removals.keys.filter { !answered.contains($0) && !lost.contains($0) }.min { $0.text < $1.text }
    }

    func events(of id: RequestID) -> [ObservedEvent] { (eventsOfRequest[id] ?? []).map { events[$0] } }

    // MARK: - Events

    private func take(_ observed: ObservedEvent) throws(Violation) {
        note("sees \(observed.text)")
        let event = observed.event
        try order.take(observed, model)
        if event.closes { opened.remove(event.requestID) }
        if [.scheduled, .held].contains(event.name) { opened.insert(event.requestID) }
        let shown = event.name == .delivered ? Showing(event.requestID, event.occurrence) : nil
        if let first = eventsByID[observed.id], !isTakenAgain(observed, events[first]) {
            try checkRepeat(observed, of: events[first])
            // What was delivered again may be removed again, by another removal.
            if let by = event.by { answered.insert(by) }
            if let shown {
                deliveredAgain[event.key] = (shown, event.devices.map(SimulatedDevices.accepted) ?? [])
            }
            return
        }
        if shown != nil { deliveredAgain[event.key] = nil }
        let number = events.count
        events.append(observed)
        answered.insert(event.requestID)
        if let by = event.by { answered.insert(by) }
        eventsByID[observed.id] = number
        let isDigest = loop != nil && LoopLog.isDigest(event.key)
        guard model.requests[event.requestID] != nil || model.removals[event.requestID] != nil || isDigest else {
            throw Violation(.known, observed.text)
        }
        try loop?.check(
            observed,
            of: model.requests[event.requestID]?.request,
            usesChannel: usesChannel,
            areClocksRight: wereClocksRight
        )
        if let request = model.requests[event.requestID] {
            guard request.record.key == event.key else { throw Violation(.known, observed.text) }
            try check(observed, of: request)
        }
        eventsOfRequest[event.requestID, default: []].append(number)
        if event.closes { closings[event.requestID, default: []].append(number) }
        // At its crossing a cap may suppress it, before that only the room.
        let isOfRegion = model.requests[event.requestID]?.request.isOfRegion ?? false
        let isWithoutRoom = isOfRegion && event.occurrence == nil
        if event.name == .suppressed, event.reason == .capped,
            isWithoutRoom || model.requests[event.requestID]?.request.limits?.isCapped != true, !isDigest
        {
            // In runs with devices, the record of a recipient may have no room for a region.
            if loop == nil || !isOfRegion { try checkRefusal(observed) }
            model.suppress(event.requestID)
        }
        if isOutdatedByPush(event) { model.suppress(event.requestID) }
    }

    /// Whether the timestamp of a push took the place of an activity's version: what was published before it goes on.
    private func isOutdatedByPush(_ event: DeliveryEvent) -> Bool {
        guard event.name == .superseded, let request = model.requests[event.requestID], request.request.isActivity,
            request.request.version != nil, let by = event.by,
            let earlier = model.requests[by]?.record ?? model.removals[by]
        else { return false }
        return earlier.offset < request.record.offset
    }

    /// Whether a later removal removes again what a forgotten removal had removed.
    private func isTakenAgain(_ observed: ObservedEvent, _ first: ObservedEvent) -> Bool {
        guard observed.event.name == .removed, let by = first.event.by, by != observed.event.by else { return false }
        return forgotten.contains(by)
    }

    private func checkRepeat(_ observed: ObservedEvent, of first: ObservedEvent) throws(Violation) {
        guard isExactlyOnce else { return }
        // A removal of all of a recipient's may miss several sends in progress; its events all have the same id.
        // Quiet hours, a digest and a collapse window may hold the same request one after the other, and by a clock that is behind
        // quiet hours have not ended yet.
        if observed.event.name == .held,
            observed.event.reason != first.event.reason || observed.event.until != first.event.until
                || observed.event.reason == .quietHours && !wereClocksRight
        {
            return
        }
        if observed.event.name == .cancellationMissed, observed.event.key != first.event.key { return }
        throw Violation(.exactlyOnce, "\(observed.text), first \(first.text)")
    }

    private func check(_ observed: ObservedEvent, of request: ReferenceModel.Request) throws(Violation) {
        let event = observed.event
        let before = closings[event.requestID]?.map { events[$0] } ?? []
        if event.closes {
            if let objection = objection(to: event, of: request.request) {
                throw Violation(.closingReason, "\(objection): \(observed.text)")
            }
            // A crash repeats decisions since the last checkpoint, and another clock, another number of pending entries or
            // another answer of the channel may change their result.
            // Of two owners at the same time, one may have a send's outcome, or fire a timer, and the other read a newer request.
            let differs = ([observed] + before).contains {
                $0.event.inDoubt || [.expired, .suppressed, .failed].contains($0.event.name)
                    || request.request.limits != nil
                    || isDisturbed && [.superseded, .cancelled].contains($0.event.name)
                    || isAhead(request, of: $0)
            }
            if !before.isEmpty, isExactlyOnce || !differs {
                throw Violation(.oneClosing, "\(observed.text), after \(before[0].text)")
            }
        } else if let closed = before.first, isExactlyOnce, !event.inDoubt,
            event.name == .delivered || event.name == .missed,
            // The event of an occurrence in flight may follow the one that closes its repeating request.
            !((usesChannel || request.request.isEnriched) && request.request.repeats)
        {
            throw Violation(.nothingAfterClosing, "\(observed.text), after \(closed.text)")
        }
        if event.name == .removed, !events(of: event.requestID).contains(where: { $0.event.name == .delivered }) {
            throw Violation(.removal, observed.text)
        }
        if event.name == .removed, let by = event.by {
            guard model.removals[by]?.isOfPending != true else {
                throw Violation(.removal, "\(observed.text), by a removal of pending notifications only")
            }
            model.ends[by] = event.key
        }
        if event.name == .delivered { try checkDelivery(observed, of: request) }
        let isDoubted = events(of: event.requestID).contains { $0.event.inDoubt }
        // The window of a digest began by the clock of another owner, or of an earlier time.
        let isOfOtherClock = event.name == .held && event.reason == .digest && !wereClocksRight
        if !(event.name == .delivered && mayBeSetBack(request)), !isOfOtherClock,
            let objection = model.objection(
                to: event,
                at: observed.time,
                usesChannel: usesChannel,
                isDoubted: isDoubted
            )
        {
            throw Violation(.timing, "\(objection): \(observed.text)")
        }
    }

    /// Whether the clock of an owner that delivered a request was behind that of its record by more than is allowed for: the next owner
    /// has no doubt (Guarantees, "Timers").
    private func isAhead(_ request: ReferenceModel.Request, of delivery: ObservedEvent) -> Bool {
        !wereClocksRight && delivery.event.name == .delivered
            && request.record.timestamp > delivery.time.adding(milliseconds: 1000)
    }

    /// Why the event may not close its request; nil if it may.
    private func objection(to event: DeliveryEvent, of request: PublishedRecord.Request) -> String? {
        switch (event.name, event.reason) {
        case (.digested, _):
            guard request.limits?.digestWindow != nil, event.into != nil else { return "it asked for no digest" }
            return request.limits?.isCritical == true ? "it is critical" : nil
        case (.suppressed, .quietHours):
            guard let limits = request.limits, let quiet = limits.quiet, !quiet.isHold else {
                return "it is to be held"
            }
            return limits.isCritical ? "it is critical" : nil
        // One that waits for a region may have no room.
        case (.suppressed, .capped) where request.limits?.isCapped == true && !request.isOfRegion:
            return request.limits?.isCritical == true ? "it is critical" : nil
        // Where each device is reached by itself, a recipient without one gets nothing.
        case (.suppressed, .noDevice) where channel == .devices: return nil
        // No phone shows the activity that it updates.
        case (.suppressed, .unsupportedForm) where request.isActivity: return nil
        case (.suppressed, .unsupportedForm) where channel == .devices:
            return loop?.hasUnreached(of: event.key) == true ? nil : "the channel reaches all of its devices"
        case (.suppressed, .notAuthorized), (.suppressed, .disabled), (.suppressed, .noDevice):
            return loop.map { $0.objection(toSuppressing: event) } ?? "no run has devices"
        default: return model.objection(to: event, usesChannel: usesChannel)
        }
    }

    /// A request is suppressed only when its partition has the maximum number of pending notifications.
    private func checkRefusal(_ observed: ObservedEvent) throws(Violation) {
        guard let record = model.requests[observed.event.requestID]?.record else { return }
        var pending: Set<NotificationKey> = []
        for (id, other) in model.requests where other.record.partition == record.partition && id != record.id {
            // Its event may be in another partition of the topic, and not read yet.
            // Without transactions, the changelog of the owner before may have what comes later in the log.
            guard other.record.offset < record.offset || !isExactlyOnce, let key = other.record.key else { continue }
            // Without transactions, the next owner may let what was closed wait: the events were written, the changelog was not.
            let isClosed =
                closings[id]?.contains { events[$0].time < observed.time } ?? false
                && (isExactlyOnce || !opened.contains(id) && !isHeld(id, key, record.partition))
            // A removal, and an occurrence in flight, may still wait for the channel's answer when the request is closed; the event of
            // a removal may be in a partition that is not read yet.
            let since = observed.time.adding(milliseconds: -60_000)
            let isRecent = closings[id]?.contains { events[$0].time > since } ?? false
            let isRecalled =
                usesChannel
                && (isRecent || other.request.repeats
                    || events(of: id).contains { $0.event.name == .removed || $0.event.inDoubt })
            let isBeingRemoved = usesChannel && isBeingRemoved(key, after: other.record, before: record, since: since)
            if !isClosed || isRecalled || isBeingRemoved { pending.insert(key) }
        }
        guard pending.count >= maximumEntries else {
            throw Violation(.closingReason, "\(observed.text): only \(pending.count) may be pending")
        }
    }

    /// Whether a removal of what is delivered waits for the channel, whose event comes after its answer.
    private func isBeingRemoved(
        _ key: NotificationKey,
        after request: PublishedRecord,
        before refused: PublishedRecord,
        since: Timestamp
    ) -> Bool {
        model.removals.contains { id, removal in
            removal.timestamp > since && !removal.isOfPending && removal.offset > request.offset
                && (removal.offset < refused.offset || !isExactlyOnce) && removal.concerns(key)
                && !answered.contains(id)
        }
    }

    /// Whether the clock may have been set back between the timer and the end of the enrichment that it waited for.
    func mayBeSetBack(_ request: ReferenceModel.Request) -> Bool {
        request.request.isEnriched && !wereClocksRight
    }

    private func checkDelivery(_ observed: ObservedEvent, of request: ReferenceModel.Request) throws(Violation) {
        let event = observed.event
        guard let content = event.content,
            request.request.contents.contains(String(decoding: content, as: UTF8.self))
        else { throw Violation(.content, observed.text) }
        guard event.enrichment == nil || request.request.isEnriched else {
            throw Violation(.content, "\(observed.text): it asked for no enrichment")
        }
        let channel = request.request.channel ?? channel
        guard event.channel == channel.rawValue else { throw Violation(.channel, observed.text) }
        let (earliest, objection) = model.earliest(event.requestID, occurrence: event.occurrence)
        if let objection { throw Violation(.occurrences, "\(objection): \(observed.text)") }
        // A send in doubt is repeated immediately, because the previous owner's clock may have been ahead.
        // With a channel that sends, the event follows the hand-over, which `World.check(_:)` checks.
        guard !event.inDoubt, channel == .events else { return }
        if let earliest, observed.time < earliest, !mayBeSetBack(request) {
            throw Violation(.neverEarly, observed.text)
        }
        let held = events(of: event.requestID).first { $0.event.name == .held }
        if isExactlyOnce, let until = held?.event.until, observed.time < until, !mayBeSetBack(request) {
            throw Violation(.neverEarly, "\(observed.text), held until \(until)")
        }
    }

    // MARK: - Dead letters

    private func take(deadLetter record: LogRecord) throws(Violation) {
        func header(_ name: String) -> [UInt8] { record.headers.last { $0.name == name }?.value ?? [] }
        func number(_ bytes: [UInt8]) -> Int64 { bytes.reduce(0) { $0 << 8 | Int64($1) } }
        let partition = Int32(truncatingIfNeeded: number(header("kafka_dlt-original-partition")))
        let (offset, reason) = (number(header("kafka_dlt-original-offset")), header("carillon-reason"))
        try take(
            deadLetter: record,
            of: String(decoding: header("kafka_dlt-original-topic"), as: UTF8.self),
            Place(partition: partition, offset: offset),
            String(decoding: reason, as: UTF8.self)
        )
    }

    private func take(
        deadLetter record: LogRecord,
        of topic: String,
        _ origin: Place,
        _ reason: String
    ) throws(Violation) {
        guard topic != topics.businessEvents else {
            note("sees dead letter of event \(origin) \(reason)")
            return try onEventLetter(record, origin, reason)
        }
        if topic == topics.signals, try loop?.take(deadLetter: origin, reason) == true { return }
        if topic == topics.signals, let fixes = model.fixes {
            note("sees dead letter of signal \(origin) \(reason)")
            return try fixes.take(deadLetter: origin, reason)
        }
        let place = Place(partition: origin.partition, offset: base(origin.partition) + origin.offset)
        note("sees dead letter \(place) \(reason)")
        guard let expected = model.bad[place] else { throw Violation(.deadLetters, "\(place) is a good record") }
        guard expected.rawValue == reason else {
            throw Violation(.deadLetters, "\(place) is \(expected.rawValue), not \(reason)")
        }
        deadLetters[place, default: 0] += 1
        guard !isExactlyOnce || deadLetters[place] == 1 else { throw Violation(.deadLetters, "\(place) came twice") }
    }
}
