import NotificationConsumer
import NotificationDelivery
import NotificationModel
import NotificationState

/// The checks of each send to a device.
extension World {
    func check(_ number: Int) throws(Violation) {
        // A lane may send in the same event in which it got the answer to a commit, and in which the end of an ingest's
        // transaction was written.
        try requests.follow()
        try observer.follow()
        try state.follow(observer)
        let record = devices.records[number]
        let send = record.send
        let text = "\(send.text) by \(record.sender) at \(record.wall)"
        let names = scenario.reachesDevices ? send.devices.map(SimulatedDevices.names) : nil
        for other in devices.records[..<number] where !other.isOver && other.send.key == send.key {
            // Each device has sends of its own.
            if let names, let others = other.send.devices,
                names.allSatisfy({ !SimulatedDevices.names(others).contains($0) })
            {
                continue
            }
            guard other.sender != record.sender || other.send.assignmentID != send.assignmentID else {
                throw Violation(.overlap, "\(text), while \(other.send.text) is in progress")
            }
        }
        try checkActivity(number, text)
        guard case .deliver(let content) = send.kind, send.attempt == 1, !send.isQuiet else { return }
        // A digest is no request.
        if observer.loop != nil, LoopLog.isDigest(send.key), observer.model.requests[send.requestID] == nil {
            return
        }
        guard let entry = observer.model.requests[send.requestID] else { throw Violation(.known, text) }
        guard entry.request.channel != .events else { throw Violation(.channel, text) }
        guard entry.request.contents.contains(String(decoding: content, as: UTF8.self)) else {
            throw Violation(.content, text)
        }
        let (earliest, objection) = observer.model.earliest(send.requestID, occurrence: send.occurrence)
        if let objection { throw Violation(.occurrences, "\(objection): \(text)") }
        // What waits for a token is later.
        let isOfOwnTime = entry.request.isOfRegion || entry.request.isActivity || entry.request.limits != nil
        if scenario.faultRate == 0, !isOfOwnTime {
            let due = observer.model.handOver(of: entry, send.occurrence, observer.events(of: send.requestID))
            let free = devices.toldAt[send.key] ?? 0
            try punctuality.check(
                due: max(due + clockSlack, free),
                waiting: entry.request.enrichmentTime,
                at: timeline.now,
                text
            )
        }
        // What was begun on a device goes on after a restart, there and on the others, also by an owner whose clock is behind.
        guard let earliest, !devices.records[..<number].contains(where: { Self.isSameHandover($0.send, send) }) else {
            return
        }
        // The send may have waited for other sends since its timer fired, and the clock may have been set back since.
        guard record.latest >= earliest || observer.mayBeSetBack(entry) else { throw Violation(.neverEarly, text) }
        // A notification that is due when its request is read is sent immediately.
        // A commit is visible only after the coordinator has written its end.
        guard entry.record.offset < state.resumption(send.partition), !broker.transactions.isWriting else { return }
        guard let limit = state.firedThrough(send.partition), earliest <= limit else {
            throw Violation(.firedThrough, text)
        }
    }

    private static func isSameHandover(_ one: Issued<ChannelSend>, _ other: Issued<ChannelSend>) -> Bool {
        guard case .deliver = one.kind else { return false }
        return one.key == other.key && one.requestID == other.requestID && one.occurrence == other.occurrence
    }

    /// Keys whose last recall reached the device, although its owner's transaction was aborted. The entry was forgotten
    /// before the next owner read the removal, so that the removal found nothing.
    private var recalledUnknown: Set<NotificationKey> {
        guard scenario.isCapped || scenario.forgets else { return [] }
        var last: [NotificationKey: SimulatedDevices.Record] = [:]
        for record in devices.records where record.arrived != nil { last[record.send.key] = record }
        return Set(
            last.filter { key, record in
                record.send.kind == .remove && !state.isDelivered(key)
                    && !observer.events.contains {
                        $0.event.name == .removed && $0.event.key == key && $0.event.by == record.send.cause
                    }
            }.keys
        )
    }

    /// Keys of requests that were sent, and ended without a doubt. An owner whose clock is behind that of the record may send it
    /// before a marker says so, and the next owner finds it in the backlog.
    private var sentUnnoticed: Set<NotificationKey> {
        guard !observer.wereClocksRight else { return [] }
        let sent = Set(devices.records.filter { $0.arrived != nil && $0.send.kind != .remove }.map(\.send.requestID))
        let ended = observer.events.map(\.event).filter { event in
            event.closes && event.name != .delivered && !event.inDoubt && sent.contains(event.requestID)
        }
        return Set(ended.map(\.key))
    }

    /// Whether a notification was delivered without a doubt, although an owner whose clock was behind that of the record may have sent it
    /// before a marker said so: to devices that the next one knew no more.
    private func wasUndoubted(_ showing: Showing, of key: NotificationKey) -> Bool {
        !observer.wereClocksRight
            && observer.events.contains { observed in
                let event = observed.event
                return event.name == .delivered && event.key == key && !event.inDoubt
                    && Showing(event.requestID, event.occurrence) == showing
            }
    }

    /// Whether an owner whose clock was ahead has sent an occurrence that is not due yet: it is sent again at its time.
    private func isEarly(_ showing: Showing) -> Bool {
        guard !observer.wereClocksRight, let occurrence = showing.occurrence, occurrence > timeline.clock.wall else {
            return false
        }
        return observer.open.contains(showing.requestID)
    }

    /// Whether an owner has decided otherwise than the one before, without transactions: what that one had removed is still delivered,
    /// or was delivered again.
    private func isKept(_ showing: Showing, of key: NotificationKey) -> Bool {
        !options.isExactlyOnce && state.isDelivered(key, showing)
    }

    /// Whether what was delivered last under a key is not remembered any more.
    private func isPastRetention(_ key: NotificationKey) -> Bool {
        guard let last = observer.events.last(where: { $0.event.key == key && $0.event.name == .delivered }) else {
            return false
        }
        // An owner's clock may have been ahead.
        let now = observer.events.map(\.time).reduce(timeline.clock.wall, max)
        return now.rawValue - last.time.rawValue >= scenario.retention
    }

    /// At rest each device shows what the events say: the notification delivered last, if it is one of its devices, and nothing
    /// if not. What is forgotten is not taken back.
    func checkDevices() throws(Violation) {
        guard scenario.usesChannel else { return }
        var last: [NotificationKey: Showing] = [:]
        var isForgotten: Set<NotificationKey> = []
        /// The devices that have accepted it; missing where none was known.
        var given: [NotificationKey: [String]] = [:]
        /// What was delivered before.
        var former: [NotificationKey: (showing: Showing?, given: [String]?)] = [:]
        /// What was delivered since the last removal, and replaced: a device that refuses what replaces it goes on showing it.
        var replaced: [NotificationKey: [Showing]] = [:]
        for observed in observer.events {
            let event = observed.event
            switch event.name {
            case .delivered where event.channel == ChannelName.events.rawValue:
                last[event.key] = nil
                if scenario.forgets || scenario.isCapped { isForgotten.insert(event.key) }
            case .delivered:
                let showing = Showing(event.requestID, event.occurrence)
                if last[event.key] != showing {
                    former[event.key] = (last[event.key], given[event.key])
                    if let earlier = last[event.key] { replaced[event.key, default: []].append(earlier) }
                }
                last[event.key] = showing
                isForgotten.remove(event.key)
                given[event.key] = event.devices.map(SimulatedDevices.accepted)
            case .deviceAttempted where event.outcome == .accepted:
                if let device = event.device { given[event.key]?.append(device) }
            case .removed: (last[event.key], former[event.key], replaced[event.key]) = (nil, nil, nil)
            // Of what has no entry, nothing is taken back.
            case .suppressed where event.reason == .capped && event.inDoubt: isForgotten.insert(event.key)
            // Without transactions, the next owner may get another answer.
            case .failed, .expired, .cancelled, .superseded, .suppressed:
                guard !options.isExactlyOnce, event.inDoubt else { continue }
                guard last[event.key] == Showing(event.requestID, event.occurrence) else { continue }
                (last[event.key], given[event.key]) = former[event.key] ?? (nil, nil)
            default: break
            }
        }
        isForgotten.formUnion(recalledUnknown)
        isForgotten.formUnion(sentUnnoticed)
        isForgotten.formUnion(given.keys.filter { !state.isDelivered($0) && isPastRetention($0) })
        let keys = Set(last.keys).union(devices.shown.keys)
        for key in keys.sorted(by: { $0.text < $1.text }) where !isForgotten.contains(key) {
            let shown = devices.shown[key] ?? [:]
            // Those that are still the recipient's.
            let known = last[key] == nil ? [] : state.devices(of: key) ?? [SimulatedDevices.unnamed]
            // Devices that became known since show it by their permission.
            let isUnnamed = known == [SimulatedDevices.unnamed]
            let again = observer.deliveredAgain[key]
            let accepted = given[key].map { $0 + (again?.devices ?? []) }
            let isListed = isUnnamed || accepted.map { accepted in known.allSatisfy(accepted.contains) } ?? true
            let isRight = shown.allSatisfy { device, showing in
                showing == last[key] && (known.contains(device) || isUnnamed)
                    || scenario.forgets && !known.contains(device) || devices.isOpen(showing, of: key, on: device)
                    || devices.activities.mayStay(key, on: device) || isEarly(showing) || isKept(showing, of: key)
                    || given[key]?.contains(device) == false && wasUndoubted(showing, of: key)
                    || again?.showing == showing
                    || replaced[key]?.contains(showing) ?? false && state.isLeft(showing, of: key, on: device)
            }
            let missing = known.first { device in
                shown[device] == nil && observer.loop?.wasGone(device, of: key) != true
                    && !devices.isOpen(last[key], of: key, on: device)
                    && !devices.activities.mayBeMissing(key, on: device)
                    && !(isUnnamed && observer.loop?.hasDevices(of: key) == true)
            }
            guard isListed, isRight, missing == nil || scenario.forgets || !state.keepsContent(of: key) else {
                func name(_ id: Showing?) -> String {
                    id.map { "\($0.requestID.text.prefix(8)) \($0.occurrence.map { "\($0)" } ?? "")" } ?? "nothing"
                }
                let devices = shown.map { "\(name($1)) on \($0)" }.sorted().joined(separator: ", ")
                let wanted = "\(name(last[key])) on \(known.joined(separator: ", "))"
                throw Violation(.device, "\(key.text) shows \(devices); it was delivered last: \(wanted)")
            }
        }
    }
}
