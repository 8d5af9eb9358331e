import Kafka
import NotificationConsumer
import NotificationModel

/// Reads what the pipeline publishes, as committed, and checks each record as it comes.
final class Observer {
    private let broker: SimulatedBroker
    private let topics: TopicNames
    private let published: () -> [[PublishedRecord]]
    /// What the offsets of a partition of requests are counted from.
    private let base: (Int32) -> Int64
    private let isExactlyOnce: Bool
    private let usesChannel: Bool
    /// Owners stand still: an earlier one may work beside its successor for a moment.
    private let isDisturbed: Bool
    /// Of a partition.
    private let maximumEntries: Int
    private let note: (String) -> Void

    /// Gets dead letters of business events.
    var onEventLetter: (LogRecord, Place, String) throws(Violation) -> Void = { _, _, _ in }
    private(set) var model: ReferenceModel
    private var deliveryPositions: [Int64]
    private var deadLetterPositions: [Int64]

    private(set) var events: [ObservedEvent] = []
    private var eventsByID: [String: Int] = [:]
    /// By request: its events, once each.
    private var eventsOfRequest: [RequestID: [Int]] = [:]
    /// By request: what closed it, once each.
    private(set) var closings: [RequestID: [Int]] = [:]
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
        usesChannel: Bool,
        isDisturbed: Bool = false,
        maximumEntries: Int = Scenario.manyEntries,
        note: @escaping (String) -> Void
    ) {
        (self.maximumEntries, self.base, self.isDisturbed) = (maximumEntries, base, isDisturbed)
        (self.broker, self.topics, self.published) = (broker, topics, published)
        (self.isExactlyOnce, self.usesChannel, self.note) = (isExactlyOnce, usesChannel, note)
        model = ReferenceModel(partitions: partitions)
        order = OrderChecks(isExactlyOnce: isExactlyOnce, usesChannel: usesChannel)
        deliveryPositions = Array(repeating: 0, count: Int(broker.partitionCount(of: topics.deliveries)))
        deadLetterPositions = Array(repeating: 0, count: Int(broker.partitionCount(of: topics.deadLetters)))
    }

    /// Reads on to the end.
    func follow() throws(Violation) {
        model.follow(published())
        // First, so that whatever comes of one of them is seen to be wrong.
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
            for record in records { try take(ObservedEvent(record, partition: Int32(partition))) }
        }
    }

    /// Requests that count, that nothing has closed, and that were not gone before they were read.
    var open: [RequestID] { model.order.filter { closings[$0] == nil && !lost.contains($0) } }

    /// Requests from `first` on that a partition of the topic holds no longer: nobody read them.
    func lose(_ partition: Int32, from first: Int64, before end: Int64) {
        for record in published()[Int(partition)] where (first..<max(first, end)).contains(record.offset) {
            if let id = record.id { lost.insert(id) }
        }
    }

    /// Requests that no owner knows of any more.
    func lose(_ ids: Set<RequestID>) { lost.formUnion(ids) }

    /// Requests and removals whose events are published, while nothing that is left tells what became of their entries.
    func forget(_ partition: Int32, _ offsets: Range<Int64>) {
        for record in published()[Int(partition)] where offsets.contains(record.offset) {
            if let id = record.id { forgotten.insert(id) }
        }
    }

    func events(of id: RequestID) -> [ObservedEvent] { (eventsOfRequest[id] ?? []).map { events[$0] } }

    // MARK: - Events

    private func take(_ observed: ObservedEvent) throws(Violation) {
        note("sees \(observed.text)")
        let event = observed.event
        try order.take(observed, model)
        if let first = eventsByID[observed.id], !isTakenAgain(observed, events[first]) {
            try checkRepeat(observed, of: events[first])
            return
        }
        let number = events.count
        events.append(observed)
        eventsByID[observed.id] = number
        guard model.requests[event.requestID] != nil || model.removals[event.requestID] != nil else {
            throw Violation(.known, observed.text)
        }
        if let request = model.requests[event.requestID] {
            guard request.record.key == event.key else { throw Violation(.known, observed.text) }
            try check(observed, of: request)
        }
        eventsOfRequest[event.requestID, default: []].append(number)
        if event.closes { closings[event.requestID, default: []].append(number) }
        if event.name == .suppressed {
            try checkRefusal(observed)
            model.suppress(event.requestID)
        }
    }

    /// What a forgotten removal took is taken once more by a later one.
    private func isTakenAgain(_ observed: ObservedEvent, _ first: ObservedEvent) -> Bool {
        guard observed.event.name == .removed, let by = first.event.by, by != observed.event.by else { return false }
        return forgotten.contains(by)
    }

    private func checkRepeat(_ observed: ObservedEvent, of first: ObservedEvent) throws(Violation) {
        guard isExactlyOnce else { return }
        // One removal of all meets many that are on their way; the id does not tell its answers apart.
        if observed.event.name == .cancellationMissed, observed.event.key != first.event.key { return }
        throw Violation(.exactlyOnce, "\(observed.text), first \(first.text)")
    }

    private func check(_ observed: ObservedEvent, of request: ReferenceModel.Request) throws(Violation) {
        let event = observed.event
        let before = closings[event.requestID]?.map { events[$0] } ?? []
        if event.closes {
            if let objection = model.objection(to: event, usesChannel: usesChannel) {
                throw Violation(.closingReason, "\(objection): \(observed.text)")
            }
            // What was decided without a checkpoint is decided again after a crash: by another clock a request may have expired,
            // the partition may have room or none, and a channel may answer otherwise.
            // Of two owners at one time, one has a send's outcome and the other a newer request.
            let differs = ([observed] + before).contains {
                $0.event.inDoubt || [.expired, .suppressed, .failed].contains($0.event.name)
                    || isDisturbed && usesChannel && [.superseded, .cancelled].contains($0.event.name)
            }
            if !before.isEmpty, isExactlyOnce || !differs {
                throw Violation(.oneClosing, "\(observed.text), after \(before[0].text)")
            }
        } else if let closed = before.first, isExactlyOnce, !event.inDoubt,
            event.name == .delivered || event.name == .missed,
            // An occurrence that is in flight when its repeat is closed is told of afterwards.
            !(usesChannel && request.request.repeats)
        {
            throw Violation(.nothingAfterClosing, "\(observed.text), after \(closed.text)")
        }
        if event.name == .removed, !events(of: event.requestID).contains(where: { $0.event.name == .delivered }) {
            throw Violation(.removal, observed.text)
        }
        if event.name == .removed, let by = event.by, model.removals[by]?.isOfPending == true {
            throw Violation(.removal, "\(observed.text), which was to take only what is pending")
        }
        if event.name == .delivered { try checkDelivery(observed, of: request) }
        let isDoubted = events(of: event.requestID).contains { $0.event.inDoubt }
        if let objection = model.objection(
            to: event,
            at: observed.time,
            usesChannel: usesChannel,
            isDoubted: isDoubted
        ) {
            throw Violation(.timing, "\(objection): \(observed.text)")
        }
    }

    /// A request is refused only when as many as may be are pending in its partition.
    private func checkRefusal(_ observed: ObservedEvent) throws(Violation) {
        guard let record = model.requests[observed.event.requestID]?.record else { return }
        var pending: Set<NotificationKey> = []
        for (id, other) in model.requests where other.record.partition == record.partition && id != record.id {
            // An answer in another partition of the topic may not have been seen yet.
            guard other.record.offset < record.offset, let key = other.record.key else { continue }
            let isClosed = closings[id]?.contains { events[$0].time < observed.time } ?? false
            // What was recalled from a device, and an occurrence in flight, may wait for the channel's answer after the request is
            // closed.
            let isRecalled =
                usesChannel
                && (other.request.repeats || events(of: id).contains { $0.event.name == .removed || $0.event.inDoubt })
            if !isClosed || isRecalled { pending.insert(key) }
        }
        guard pending.count >= maximumEntries else {
            throw Violation(.closingReason, "\(observed.text): only \(pending.count) may be pending")
        }
    }

    private func checkDelivery(_ observed: ObservedEvent, of request: ReferenceModel.Request) throws(Violation) {
        let event = observed.event
        guard event.content.map({ String(decoding: $0, as: UTF8.self) }) == request.request.content else {
            throw Violation(.content, observed.text)
        }
        let (earliest, objection) = model.earliest(event.requestID, occurrence: event.occurrence)
        if let objection { throw Violation(.occurrences, "\(objection): \(observed.text)") }
        // What may have been handed over goes again at once: the clock of the owner before was ahead.
        // With a channel the event comes after the hand-over, which is checked by itself.
        guard !event.inDoubt, !usesChannel else { return }
        if let earliest, observed.time < earliest { throw Violation(.neverEarly, observed.text) }
        let held = events(of: event.requestID).first { $0.event.name == .held }
        if isExactlyOnce, let until = held?.event.until, observed.time < until {
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
