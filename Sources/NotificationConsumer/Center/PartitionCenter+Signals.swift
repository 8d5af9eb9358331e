import NotificationModel
import NotificationState

/// What comes back from devices and gateways: responses, receipts, reports, states of apps, and devices that are gone.
extension PartitionCenter {
    /// - Parameter shown: by device that leaves, the identifiers under which it showed something.
    mutating func apply(
        _ input: CenterInput.Signal,
        shown: [String: [String]] = [:],
        at now: Timestamp
    ) throws -> CenterInput.Outcome {
        switch input.signal {
        case .response(let response):
            let key = try input.recipient.withIdentifier(response.identifier)
            return try answer(key, at: now) { $0.apply(response, of: input) }
        case .receipt(let receipt):
            let key = try input.recipient.withIdentifier(receipt.identifier)
            return try answer(key, at: now) { $0.apply(receipt, of: input) }
        case .report(let report):
            let key = try input.recipient.withIdentifier(report.identifier)
            let sent = try sent(report, to: input.recipient, at: now)
            let outcome = try answer(key, at: now) { $0.apply(report, of: input) }
            // A device that was registered since the notification was sent has another token.
            if report.outcome == .unregistered, let sent {
                try retire(
                    RetirementSignal(device: report.device, token: nil, gone: sent),
                    input,
                    .unregistered,
                    at: now
                )
            }
            return outcome
        case .appState(let state):
            var isNew = false
            let at = state.at ?? input.timestamp
            try change(recipient: input.recipient, at: now) {
                isNew = $0.note(state, at: at)
                return isNew
            }
            return isNew ? .matched : .unknown
        case .retirement(let retirement):
            let isRetired = try retire(retirement, input, retirement.hasMoved ? .moved : .unregistered, shown, at: now)
            return isRetired ? .matched : .unknown
        case .location: return .unawaited
        }
    }

    /// Runs a turn over the entry that a signal answers; without room for an entry, nothing of it is remembered.
    private mutating func answer(
        _ key: NotificationKey,
        at now: Timestamp,
        _ body: (inout Turn) -> CenterInput.Outcome
    ) throws -> CenterInput.Outcome {
        guard try hasRoom(for: key, at: now, .first) else { return outsideOfEntries(key, at: now, body) }
        return try turn(of: key, at: now, from: .clock, body)
    }

    @discardableResult
    private mutating func retire(
        _ retirement: RetirementSignal,
        _ input: CenterInput.Signal,
        _ reason: ReasonCode,
        _ shown: [String: [String]] = [:],
        at now: Timestamp
    ) throws -> Bool {
        guard var record = try recipient(of: input.recipient),
            let device = record.retire(
                retirement.device,
                token: retirement.token,
                gone: retirement.gone,
                in: input.recipient.application,
                at: now
            )
        else { return false }
        keep(record, of: input.recipient, at: now)
        try turn(ofActivityOf: device, input.recipient, at: now) {
            $0.activityEnded(on: device.target, at: retirement.gone, input.trace)
        }
        let key = try input.recipient.withIdentifier(retirement.device)
        // Where it has moved, the token has another owner. Otherwise the app is gone, and what it showed.
        if reason != .moved { release(device.registration, of: key, device.writtenAt, input.trace) }
        let shows = shown[retirement.device] ?? []
        announce(.retired, key, device.registration, at: retirement.gone, reason, shows: shows, input.trace)
        return true
    }

    /// When the notification was sent that a report is about.
    mutating func sent(
        _ report: ReportSignal,
        to recipient: NotificationKey,
        at now: Timestamp
    ) throws -> Timestamp? {
        let key = try recipient.withIdentifier(report.identifier)
        return try slot(of: key, at: now).flatMap { inUse.entry(of: $0).sent(report.requestID) }
    }
}

extension StateEntry {
    /// When the notification of a request was sent, or its last attempt began; nil when it is not the one that is shown or sent.
    fileprivate func sent(_ id: RequestID) -> Timestamp? {
        if let delivered, delivered.requestID == id { return delivered.at }
        guard let handover, handover.showing.requestID == id else { return nil }
        var last: Timestamp?
        for operation in screen?.operations ?? [] where operation.delivers(handover.showing) {
            if case .inFlight(let since) = operation.phase { last = since } else { last = last ?? operation.begun }
        }
        return last
    }
}

extension RetirementSignal {
    /// Whether another recipient has the token now: its event has the hash of the token only.
    var hasMoved: Bool { token?.hasPrefix(RecipientRecord.hashPrefix) ?? false }
}
