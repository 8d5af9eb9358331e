package import NotificationModel

/// What a query says about one identifier of a recipient: what is pending under it and what is delivered, or both for a
/// repeating notification.
///
///     {"application":"shop","recipient":"ana","identifier":"standup",
///      "pending":{"requestId":"…","waitsFor":"time","nextTriggerDate":"…","occurrences":["…","…"],"content":{…}},
///      "delivered":{"requestId":"…","occurrence":"…","deliveredAt":"…"}}
///
/// A notification that a channel was given and has not accepted yet counts as pending, and is under `sending` with its
/// `attempt`, and with `nextAttempt` between two attempts. `waitsFor` says what ends the wait: see ``Wait``.
package struct ListedNotification: Sendable {
    /// The set that a query asks for.
    package enum State: String, CaseIterable, Sendable {
        /// Scheduled, held back, or with a channel that has not accepted it yet.
        case pending
        /// Shown in the recipient's notification center.
        case delivered
    }

    /// What a notification waits for.
    package enum Wait: String, CaseIterable, Sendable {
        /// The instant of its trigger.
        case time
        /// A device that crosses the boundary of its region.
        case region
        /// The end of its collapse window.
        case collapseWindow = "collapse-window"
        /// The end of quiet hours.
        case quietHours = "quiet-hours"
        /// The end of its digest's window.
        case digest
        /// The end of what is being sent under the same identifier, or of the backlog that is being read.
        case sending
    }

    /// The clock of a recipient, on which quiet hours are.
    package struct Clock: Sendable {
        private let zones: TimeZones
        private let local: String?

        /// - Parameters:
        ///   - zones: the database, and the standard zone.
        ///   - local: the name of the recipient's zone, if it is known.
        package init(_ zones: TimeZones, local: String?) { (self.zones, self.local) = (zones, local) }

        /// Whether quiet hours that hold notifications back end at an instant.
        func isEnd(_ instant: Timestamp, of limits: DeliveryLimits?) -> Bool {
            end(containing: instant.adding(milliseconds: -1), limits) == instant
        }

        /// Whether an instant is in quiet hours that hold notifications back.
        func isQuiet(_ instant: Timestamp, by limits: DeliveryLimits?) -> Bool {
            end(containing: instant, limits) != nil
        }

        private func end(containing instant: Timestamp, _ limits: DeliveryLimits?) -> Timestamp? {
            guard let quiet = limits?.quietHours, quiet.policy == .hold else { return nil }
            return quiet.end(containing: instant, in: zones, local: local)
        }
    }

    /// The most `occurrences` that one notification can be listed with.
    package static let maximumOccurrences = 100

    /// The notification's key.
    package let key: NotificationKey
    private let entry: StateEntry
    private let states: Set<State>
    private let occurrences: Int
    private let clock: Clock?

    /// What a query says about an entry; nil when it has nothing in the sets that are asked for.
    ///
    /// - Parameters:
    ///   - key: of the entry.
    ///   - entry: as it is now.
    ///   - states: the sets that are asked for.
    ///   - occurrences: how many nominal instants of a schedule to list, 0 to ``maximumOccurrences``.
    ///   - clock: of the recipient; nil where there are no quiet hours.
    package init?(key: NotificationKey, entry: StateEntry, states: Set<State>, occurrences: Int, clock: Clock?) {
        guard states.contains(where: entry.isListed) else { return nil }
        (self.key, self.entry, self.states) = (key, entry, states)
        self.occurrences = min(max(occurrences, 0), Self.maximumOccurrences)
        self.clock = clock
    }

    /// Bytes of the contents that it is written with.
    package var contentBytes: Int {
        (entry.pending?.content.count ?? 0) + (entry.handover?.content.count ?? 0)
    }

    private enum Field: FieldName {
        case application, recipient, identifier, pending, sending, delivered
        case requestId, waitsFor, nextTriggerDate, occurrences, occurrence, expiration, attempt, nextAttempt, content,
            deliveredAt
    }

    /// Appends its JSON object.
    package func write(to out: inout [UInt8]) {
        var object = JSONObjectWriter()
        object.member(Field.application, key.application, &out)
        object.member(Field.recipient, key.recipient, &out)
        object.member(Field.identifier, key.identifier, &out)
        if states.contains(.pending) {
            if let pending = entry.pending {
                object.begin(Field.pending, &out)
                write(pending, to: &out)
            }
            if let handover = entry.handover {
                object.begin(Field.sending, &out)
                write(handover, to: &out)
            }
        }
        if states.contains(.delivered), let delivered = entry.delivered {
            object.begin(Field.delivered, &out)
            var member = JSONObjectWriter()
            member.member(Field.requestId, delivered.requestID, &out)
            member.member(Field.occurrence, delivered.occurrence, &out)
            member.member(Field.deliveredAt, delivered.at, &out)
            member.end(&out)
        }
        object.end(&out)
    }

    private func write(_ pending: StateEntry.Pending, to out: inout [UInt8]) {
        var object = JSONObjectWriter()
        object.member(Field.requestId, pending.requestID, &out)
        object.member(Field.waitsFor, wait(of: pending).rawValue, &out)
        // What waits for a region has no date: it is due only because it expires.
        let isOfRegion = if case .region = pending.timer { true } else { false }
        object.member(Field.nextTriggerDate, isOfRegion ? nil : pending.due, &out)
        if occurrences > 0, case .scheduled(let schedule, let next) = pending.timer {
            object.member(Field.occurrences, schedule.occurrences(from: next, limit: occurrences), &out)
        }
        object.member(Field.expiration, pending.expiration, &out)
        object.begin(Field.content, &out)
        JSONWriter.append(raw: pending.content, to: &out)
        object.end(&out)
    }

    private func wait(of pending: StateEntry.Pending) -> Wait {
        switch pending.timer {
        case .region: .region
        case .digest: .digest
        case .turn: .sending
        case .held: isHeldByQuietHours(pending) ? .quietHours : .collapseWindow
        // The trigger stays while quiet hours hold it back.
        case .scheduled(let schedule, let occurrence):
            pending.due != schedule.due(for: occurrence, of: pending.requestID) && isHeldByQuietHours(pending)
                ? .quietHours : .time
        }
    }

    private func isHeldByQuietHours(_ pending: StateEntry.Pending) -> Bool {
        pending.due.map { isEnd($0, of: pending.limits, pending.expiration) } ?? false
    }

    /// Whether an instant is the end of quiet hours; of what expires in them, it is its expiration.
    private func isEnd(_ instant: Timestamp, of limits: DeliveryLimits?, _ expiration: Timestamp?) -> Bool {
        guard let clock else { return false }
        return clock.isEnd(instant, of: limits) || instant == expiration && clock.isQuiet(instant, by: limits)
    }

    private func write(_ handover: StateEntry.Handover, to out: inout [UInt8]) {
        let operations = entry.screen?.operations.filter { $0.showing == handover.showing } ?? []
        let tried = operations.map { $0.isInFlight ? $0.attempt : $0.attempt - 1 }.max() ?? 0
        var object = JSONObjectWriter()
        let pause = operations.contains(where: \.isInFlight) ? nil : operations.compactMap(\.nextAttempt).min()
        let next = pause ?? handover.start
        object.member(Field.requestId, handover.showing.requestID, &out)
        if let next, isEnd(next, of: handover.limits, handover.expiration) {
            object.member(Field.waitsFor, Wait.quietHours.rawValue, &out)
        }
        object.member(Field.occurrence, handover.showing.occurrence, &out)
        object.member(Field.attempt, Int64(max(1, tried)), &out)
        object.member(Field.nextAttempt, next, &out)
        object.member(Field.expiration, handover.expiration, &out)
        object.begin(Field.content, &out)
        JSONWriter.append(raw: handover.content, to: &out)
        object.end(&out)
    }
}

extension StateEntry {
    /// Whether it has something in the set.
    fileprivate func isListed(in state: ListedNotification.State) -> Bool {
        switch state {
        case .pending: pending != nil || handover != nil
        case .delivered: delivered != nil
        }
    }
}

extension Schedule {
    /// The nominal instants from one of them on, in order.
    fileprivate func occurrences(from first: Timestamp, limit: Int) -> [Timestamp] {
        var found = [first]
        while found.count < limit, let next = next(after: found[found.count - 1]) { found.append(next) }
        return found
    }
}
