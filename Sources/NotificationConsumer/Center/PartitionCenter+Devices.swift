import NotificationModel
import NotificationState

/// What changes a recipient's devices: registrations, retirements, states of apps, and claims of tokens.
extension PartitionCenter {
    /// Changes a recipient's record outside a turn.
    ///
    /// - Parameter change: returns whether it changed anything.
    mutating func change(
        recipient key: NotificationKey,
        at now: Timestamp,
        _ change: (inout RecipientRecord) -> Bool
    ) throws {
        var record = try recipient(of: key) ?? RecipientRecord()
        guard change(&record) else { return }
        keep(record, of: key, at: now)
    }

    /// Keeps a changed record. What the entries of the recipient became by the record before goes into the same cut: a replay
    /// would judge by the new one.
    mutating func keep(_ record: RecipientRecord, of key: NotificationKey, at now: Timestamp) {
        var record = record
        record.touch(at: now, since: rules.rememberedSince(now))
        inUse.totals += recipients.set(record, of: key)
        inUse.endWaiting(ofRecipientOf: key)
        keepsRecipients = true
    }

    // MARK: - Registrations

    mutating func apply(_ input: CenterInput.Registration, at now: Timestamp) throws -> CenterInput.Outcome {
        let key = input.key.ofRecipient
        guard try input.registration == nil || hasRoom(forLasting: key) else {
            return .refused(
                ModelError(.capped, "the partition has no room for another recipient's devices (center.recipients)")
            )
        }
        var record = try recipient(of: key) ?? RecipientRecord()
        guard !record.hasApplied(input.position) else {
            // The marker that would say so was not written.
            keepsRecipients = true
            return .duplicate
        }
        record.noteApplied(input.position)
        let writtenAt = record.writtenAt(input.timestamp)
        guard let registration = input.registration else {
            return try unregister(input, &record, writtenAt, at: now)
        }
        let name = input.key.identifier
        let device = RecipientRecord.RegisteredDevice(name: name, registration: registration, writtenAt: writtenAt)
        let bytes = device.bytes
        guard bytes <= rules.recipientBytes else {
            return .refused(
                ModelError(
                    .tooLarge,
                    "the device needs \(bytes) bytes of its recipient's record, which has room for "
                        + "\(rules.recipientBytes) (message.max.bytes)"
                )
            )
        }
        let outcome = record.register(
            name,
            registration,
            writtenAt: writtenAt,
            atMost: rules.maximumDevices,
            bytes: rules.recipientBytes
        )
        keep(record, of: key, at: now)
        switch outcome {
        case .refreshed:
            claim(registration, by: input.key, writtenAt, input.trace)
            return .refreshed
        case .changed(let former, let dropped):
            if let former { release(former, of: input.key, writtenAt, input.trace) }
            announce(.registered, input.key, registration, at: writtenAt, nil, input.trace)
            claim(registration, by: input.key, writtenAt, input.trace)
            for device in dropped {
                let dropped = try key.withIdentifier(device.name)
                let isReplaced = device.sharesToken(with: registration)
                if !isReplaced { release(device.registration, of: dropped, writtenAt, input.trace) }
                let reason = isReplaced ? ReasonCode.replaced : .capped
                announce(.retired, dropped, device.registration, at: writtenAt, reason, input.trace)
            }
            return .registered
        }
    }

    private mutating func unregister(
        _ input: CenterInput.Registration,
        _ record: inout RecipientRecord,
        _ writtenAt: Timestamp,
        at now: Timestamp
    ) throws -> CenterInput.Outcome {
        guard let device = record.unregister(input.key.identifier, writtenAt: writtenAt, at: now) else {
            return .unknown
        }
        keep(record, of: input.key.ofRecipient, at: now)
        release(device.registration, of: input.key, writtenAt, input.trace)
        try clear(device, of: input.key, at: writtenAt, nil, input.trace, at: now)
        return .retired
    }

    private mutating func claim(
        _ registration: DeviceRegistration,
        by key: NotificationKey,
        _ writtenAt: Timestamp,
        _ trace: CarriedTrace
    ) {
        let claim = TokenClaim(owner: key, writtenAt: writtenAt)
        add(.claim(claim, token: registration.tokenHash(application: key.application), trace))
    }

    private mutating func release(
        _ registration: DeviceRegistration,
        of key: NotificationKey,
        _ writtenAt: Timestamp,
        _ trace: CarriedTrace
    ) {
        let claim = TokenClaim(owner: key, writtenAt: writtenAt, isReleased: true)
        add(.claim(claim, token: registration.tokenHash(application: key.application), trace))
    }

    private mutating func announce(
        _ name: DeviceEvent.Name,
        _ key: NotificationKey,
        _ registration: DeviceRegistration,
        at: Timestamp,
        _ reason: ReasonCode?,
        shows: [String] = [],
        _ trace: CarriedTrace
    ) {
        var event = DeviceEvent(name: name, key: key, at: at)
        event.platform = registration.platform
        if name == .retired, rules.listsRegistrations {
            // The topic `devices` may have it no more.
            (event.token, event.environment) = (registration.token, registration.environment)
            event.bundleIdentifier = registration.bundleIdentifier
        }
        event.reason = reason
        event.shows = shows
        add(.announce(event, trace))
    }

    // MARK: - Claims of tokens

    /// Decides who owns a token. The recipient that has lost it retires its device, in its own partition.
    mutating func apply(_ input: CenterInput.Claim, at now: Timestamp) throws -> CenterInput.Outcome {
        guard try input.claim.isReleased || hasRoom(forLasting: input.token) else {
            return .refused(ModelError(.capped, "the partition has no room for another token (center.recipients)"))
        }
        var record = try recipient(of: input.token) ?? RecipientRecord()
        // Read again, an earlier one could take the token from its owner, where hosts have different clocks.
        guard !record.hasApplied(input.position) else { return .duplicate }
        record.noteApplied(input.position)
        let former = record.tokenOwner
        let lost = record.claim(input.claim)
        if record.tokenOwner != former { keep(record, of: input.token, at: now) }
        guard let lost else { return .claimed }
        let retirement = RetirementSignal(
            application: lost.loser.application,
            device: lost.loser.identifier,
            token: RecipientRecord.hashPrefix + input.token.recipient,
            gone: lost.gone
        )
        add(.signal(.retirement(retirement), recipient: lost.loser.recipient, input.trace))
        return .claimed
    }

    // MARK: - Signals

    mutating func apply(_ input: CenterInput.Signal, at now: Timestamp) throws -> CenterInput.Outcome {
        switch input.signal {
        case .response(let response):
            let key = try input.recipient.withIdentifier(response.identifier)
            return try answer(key, at: now) { $0.apply(response, of: input) }
        case .receipt(let receipt):
            let key = try input.recipient.withIdentifier(receipt.identifier)
            return try answer(key, at: now) { $0.apply(receipt, of: input) }
        case .report(let report):
            let key = try input.recipient.withIdentifier(report.identifier)
            let sent = try slot(of: key, at: now).flatMap { inUse.entry(of: $0).sent(report.requestID) }
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
            let hasMoved = retirement.token?.hasPrefix(RecipientRecord.hashPrefix) ?? false
            let isRetired = try retire(retirement, input, hasMoved ? .moved : .unregistered, at: now)
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
        let key = try input.recipient.withIdentifier(retirement.device)
        if reason == .moved {
            try clear(device, of: key, at: retirement.gone, reason, input.trace, at: now)
        } else {
            release(device.registration, of: key, device.writtenAt, input.trace)
            // The app is gone, and what it showed.
            announce(.retired, key, device.registration, at: retirement.gone, reason, input.trace)
        }
        return true
    }

    // MARK: - What a device shows that is no longer the recipient's

    /// Announces the end of a device, and asks it to remove the recipient's notifications: another person may have it now.
    private mutating func clear(
        _ device: RecipientRecord.RegisteredDevice,
        of key: NotificationKey,
        at instant: Timestamp,
        _ reason: ReasonCode?,
        _ trace: CarriedTrace,
        at now: Timestamp
    ) throws {
        let shown = try keys(shownOn: device.name, of: key.ofRecipient, at: now)
        var room = Self.shownBytes
        let listed = shown.lazy.map(\.identifier).prefix { identifier in
            room -= identifier.utf8.count
            return room >= 0
        }
        announce(.retired, key, device.registration, at: instant, reason, shows: Array(listed), trace)
        let cause = "\(String(decoding: key.encoded, as: UTF8.self)) \(instant.rawValue)"
        let id = RequestID.derive(caller: "retirement", idempotencyKey: cause)
        for shown in shown { try turn(of: shown, at: now, from: .clock) { $0.leave(device.name, by: id, trace) } }
    }

    /// Bytes of the identifiers that the end of a device lists.
    private static let shownBytes = 32 * 1024
    /// Entries in the store that are looked at, and about how many are found, when a device ends.
    private static let (lookedAt, clearedAtOnce) = (10_000, 1_000)

    /// The keys of what a device shows or may show, in order: of all in memory, and of a bounded number of others.
    private mutating func keys(
        shownOn device: String,
        of recipient: NotificationKey,
        at now: Timestamp
    ) throws -> [NotificationKey] {
        var keys = Set<NotificationKey>()
        for slot in inUse.slots(ofRecipientOf: recipient) where inUse.entry(of: slot).shows(on: device) {
            keys.insert(inUse.key(of: slot))
        }
        var cursor = RecipientCursor()
        var (looked, isAll) = (0, false)
        while !isAll, looked < Self.lookedAt, keys.count < Self.clearedAtOnce {
            let page = try store.entries(withPrefix: recipient.encoded, after: &cursor, limit: limits.entriesPerPiece)
            (looked, isAll) = (looked + page.count, page.count < limits.entriesPerPiece)
            for stored in page {
                let key = try NotificationKey(encoded: stored.key)
                guard !key.isWholeRecipient, inUse.slot(of: key) == nil,
                    try StateEntry(json: stored.value, zones: zones).shows(on: device)
                else { continue }
                keys.insert(key)
            }
        }
        return keys.sorted { $0.encoded.lexicographicallyPrecedes($1.encoded) }
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

    /// Whether a device shows something under the key, or may show it.
    fileprivate func shows(on device: String) -> Bool {
        if delivered?.devices.containsUTF8(of: device) ?? false { return true }
        if handover?.devices?.containsUTF8(of: device) ?? false { return true }
        return screen?.targets.contains { target in
            target.mayShowAnything && target.device.map { $0.hasSameUTF8(as: device) } ?? false
        } ?? false
    }
}
