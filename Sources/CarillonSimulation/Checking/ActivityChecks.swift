import NotificationConsumer
import NotificationDelivery
import NotificationModel
import NotificationState

/// The newest push to each Live Activity, and what committed events confirm.
struct ActivityChecks {
    enum Target: Hashable {
        case activity(Int)
        /// Its id.
        case channel(String)
    }

    /// The timestamp of a push, and what it was for.
    struct Push: Equatable {
        var timestamp: Int64
        var requestID: RequestID
        var occurrence: Timestamp?
        var isEnd: Bool
        var assignmentID: UInt64

        init?(_ send: Issued<ChannelSend>) {
            guard let timestamp = send.activity?.timestamp else { return nil }
            (self.timestamp, requestID, occurrence) = (timestamp, send.requestID, send.occurrence)
            (isEnd, assignmentID) = (send.kind == .remove, send.assignmentID)
        }

        /// An end after an end is the same one, whatever it says that it takes away.
        func isSameContent(as other: Push) -> Bool {
            isEnd && other.isEnd || (requestID, occurrence, isEnd) == (other.requestID, other.occurrence, other.isEnd)
        }
    }

    /// By activity, and by broadcast channel.
    var last: [Target: Push] = [:]
    /// What the newest removal of a key has taken away, by committed events.
    private(set) var removed: [NotificationKey: (id: RequestID, left: String?)] = [:]
    /// By committed events.
    private(set) var delivered: Set<RequestID> = []
    /// How many events were read.
    private var read = 0

    /// Reads the events since the last call.
    mutating func follow(_ events: [ObservedEvent], _ activities: SimulatedActivities) {
        for observed in events[read...] where observed.event.key.identifier == ActivityWorkload.identifier {
            let event = observed.event
            var phones: [String] = []
            switch event.name {
            case .delivered:
                removed[event.key] = nil
                delivered.insert(event.requestID)
                phones = event.devices.map(SimulatedDevices.accepted) ?? []
            case .deviceAttempted where event.outcome == .accepted: phones = event.device.map { [$0] } ?? []
            // Its end may be under way.
            case .removed:
                removed[event.key] = (event.requestID, event.device)
                activities.doubt(event.key)
            // What else ends may be taken away.
            default:
                if event.closes { removed[event.key] = nil }
                continue
            }
            for phone in phones {
                activities.confirm(Showing(event.requestID, event.occurrence), event.key, on: phone)
            }
        }
        read = events.count
    }
}

/// The checks of each push of a Live Activity.
extension World {
    /// The longest life of an activity, in microseconds: less than Carillon waits for a token.
    private static let activityLife: Int64 = 11 * 3_600_000_000

    func checkActivity(_ number: Int, _ text: String) throws(Violation) {
        let record = devices.records[number]
        let send = record.send
        guard send.key.identifier == ActivityWorkload.identifier else { return }
        guard let registration = send.registration, registration.kind.isOfLiveActivities,
            let push = ActivityChecks.Push(send), let phone = send.devices.map(SimulatedDevices.names)?.first
        else { throw Violation(.activity, "\(text), which is no push of an activity") }
        activityChecks.follow(observer.events, devices.activities)
        if push.isEnd { try checkDismissal(send, on: phone, text) }
        switch registration.kind {
        case .liveActivityStart: try checkStart(send, on: phone, text)
        case .broadcastChannel:
            guard ActivityWorkload.isChannel(registration.token, of: send.key.recipient) else {
                throw Violation(.activity, "\(text), to the channel of another recipient")
            }
            let channel = ActivityChecks.Target.channel(registration.token)
            // What follows an end is for the activities that were started since.
            if !push.isEnd, activityChecks.last[channel]?.isEnd ?? false { activityChecks.last[channel] = nil }
            try checkTimestamp(push, to: channel, text)
        default:
            guard let activity = devices.activities.number(of: registration.token),
                devices.activities.all[activity].key == send.key, devices.activities.all[activity].phone == phone
            else { throw Violation(.activity, "\(text), to the token of another activity") }
            if push.isEnd { devices.activities.doubt(activity) }
            try checkTimestamp(push, to: .activity(activity), text)
        }
    }

    private func checkTimestamp(
        _ push: ActivityChecks.Push,
        to target: ActivityChecks.Target,
        _ text: String
    ) throws(Violation) {
        // The pushes of an owner whose transaction was aborted are not known to the next one.
        if let last = activityChecks.last[target], last.assignmentID == push.assignmentID {
            let isGrown =
                last.isSameContent(as: push) ? push.timestamp >= last.timestamp : push.timestamp > last.timestamp
            guard isGrown else { throw Violation(.activity, "\(text), after the timestamp \(last.timestamp)") }
        }
        activityChecks.last[target] = push
    }

    /// An end has the date of dismissal of what it takes away, of what was removed last, or of something newer, whose removal no committed
    /// event says yet. What a phone has left ends at once, and so may what was cancelled while it was in doubt.
    private func checkDismissal(_ send: Issued<ChannelSend>, on phone: String, _ text: String) throws(Violation) {
        let requests = observer.model.requests
        guard options.isExactlyOnce, !scenario.forgets,
            let removed = activityChecks.removed[send.key], removed.left != phone,
            let first = requests[removed.id]?.record.offset
        else { return }
        let date = send.activity?.dismissalDate
        if date == nil, !activityChecks.delivered.contains(send.requestID) { return }
        let isOne = requests.contains { id, request in
            request.record.key == send.key && (request.record.offset >= first || id == send.requestID)
                && request.request.dismissalDate == date
        }
        if !isOne { throw Violation(.activity, "\(text), to be dismissed at \(date?.rfc3339 ?? "once")") }
    }

    private func checkStart(_ send: Issued<ChannelSend>, on phone: String, _ text: String) throws(Violation) {
        guard case .deliver(let content) = send.kind,
            String(decoding: content, as: UTF8.self).contains("\"attributesType\"")
        else { throw Violation(.activity, "\(text), without attributes") }
        let activities = devices.activities
        let shown = activities.running(send.key, on: phone).map { activities.all[$0] }
            .first { [now = timeline.now] in $0.confirmed != nil && now - $0.begun < Self.activityLife }?.confirmed
        guard let shown, !scenario.forgets else { return }
        // Without transactions an owner may end between the event and the changelog.
        guard options.isExactlyOnce || state.shows(shown, of: send.key, on: phone) else { return }
        // An owner before may have ended it for a removal that no committed event says to be done yet.
        if let begun = observer.model.requests[shown.requestID]?.record.offset,
            observer.model.removals.values.contains(where: {
                $0.offset > begun && !$0.isOfPending && $0.concerns(send.key)
            })
        {
            return
        }
        throw Violation(.activity, "\(text), although the phone shows \(shown.requestID.text.prefix(8))")
    }
}
