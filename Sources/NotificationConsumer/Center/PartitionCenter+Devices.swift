import NotificationModel

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
        guard let registration = input.registration else { return try unregister(input, key, at: now) }
        guard try hasRoom(forLasting: key) else {
            return .refused(
                ModelError(.capped, "the partition has no room for another recipient's devices (center.recipients)")
            )
        }
        var record = try recipient(of: key) ?? RecipientRecord()
        let name = input.key.identifier
        let bytes = RecipientRecord.RegisteredDevice(name: name, registration: registration).bytes
        guard bytes <= rules.recipientBytes else {
            return .refused(
                ModelError(
                    .tooLarge,
                    "the device needs \(bytes) bytes of its recipient's record, which has room for "
                        + "\(rules.recipientBytes) (message.max.bytes)"
                )
            )
        }
        switch record.register(name, registration, atMost: rules.maximumDevices, bytes: rules.recipientBytes) {
        case .late: return .late
        case .refreshed:
            keep(record, of: key, at: now)
            claim(registration, by: input.key, input.trace)
            return .refreshed
        case .changed(let former, let dropped):
            keep(record, of: key, at: now)
            if let former { release(former, of: input.key, input.trace) }
            announce(.registered, input.key, registration, at: registration.registeredAt ?? now, nil, input.trace)
            claim(registration, by: input.key, input.trace)
            for device in dropped {
                let dropped = try key.withIdentifier(device.name)
                if device.registration.token != registration.token {
                    release(device.registration, of: dropped, input.trace)
                }
                announce(.retired, dropped, device.registration, at: now, .capped, input.trace)
            }
            return .registered
        }
    }

    private mutating func unregister(
        _ input: CenterInput.Registration,
        _ key: NotificationKey,
        at now: Timestamp
    ) throws -> CenterInput.Outcome {
        guard var record = try recipient(of: key),
            let device = record.unregister(input.key.identifier, at: input.timestamp)
        else { return .unknown }
        keep(record, of: key, at: now)
        release(device.registration, of: input.key, input.trace)
        announce(.retired, input.key, device.registration, at: input.timestamp, nil, input.trace)
        return .registered
    }

    private mutating func claim(_ registration: DeviceRegistration, by key: NotificationKey, _ trace: CarriedTrace) {
        let claim = TokenClaim(owner: key, registeredAt: registration.registeredAt ?? Timestamp(rawValue: 0))
        add(.claim(claim, token: registration.tokenHash(application: key.application), trace))
    }

    private mutating func release(_ registration: DeviceRegistration, of key: NotificationKey, _ trace: CarriedTrace) {
        var claim = TokenClaim(owner: key, registeredAt: registration.registeredAt ?? Timestamp(rawValue: 0))
        claim.isReleased = true
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
            let delivered = try slot(of: key, at: now).flatMap { inUse.entry(of: $0).delivered }
            let outcome = try answer(key, at: now) { $0.apply(report, of: input) }
            // A device that was registered since the notification was sent has another token.
            if report.outcome == .unregistered, let delivered, delivered.requestID == report.requestID {
                try retire(
                    RetirementSignal(device: report.device, token: nil, gone: delivered.at),
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
        return try turn(of: key, at: now, from: .clock, needsRecipient: false, body)
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
                in: input.recipient.application
            )
        else { return false }
        keep(record, of: input.recipient, at: now)
        let key = try input.recipient.withIdentifier(retirement.device)
        // A phone that another person has now must not go on showing these.
        let shown = reason == .moved ? try deliveredKeys(of: input.recipient, at: now) : []
        if reason != .moved { release(device.registration, of: key, input.trace) }
        announce(
            .retired,
            key,
            device.registration,
            at: retirement.gone,
            reason,
            shows: shown.map(\.identifier),
            input.trace
        )
        for key in shown {
            try turn(of: key, at: now, from: .clock) {
                $0.leave(retirement.device, isLast: !record.hasActiveDevice, input.trace)
            }
        }
        return true
    }

    /// The keys under which the recipient has delivered notifications, in order: those that are looked for first.
    private mutating func deliveredKeys(of recipient: NotificationKey, at now: Timestamp) throws -> [NotificationKey] {
        var keys = Set<NotificationKey>()
        for slot in inUse.slots(ofRecipientOf: recipient) where inUse.entry(of: slot).delivered != nil {
            keys.insert(inUse.key(of: slot))
        }
        var cursor = RecipientCursor()
        for stored in try store.entries(withPrefix: recipient.encoded, after: &cursor, limit: limits.entriesPerPiece) {
            let key = try NotificationKey(encoded: stored.key)
            guard !key.isWholeRecipient, inUse.slot(of: key) == nil,
                try StateEntry(json: stored.value, zones: zones).delivered != nil
            else { continue }
            keys.insert(key)
        }
        return keys.sorted { $0.encoded.lexicographicallyPrecedes($1.encoded) }
    }
}

extension Turn {
    /// A device of the recipient belongs to another person now: it is asked to remove what it shows.
    ///
    /// - Parameter isLast: no other device of the recipient shows it.
    mutating func leave(_ device: String, isLast: Bool, _ trace: CarriedTrace) {
        guard let delivered = entry.delivered, entry.sending == nil else { return }
        let id = RequestID.derive(caller: "retirement", idempotencyKey: "\(delivered.requestID) \(device)")
        guard isLast else { return withdraw(from: device, through: delivered.channel, by: id, trace) }
        isChanged = true
        publish(.removed, of: delivered.requestID, closes: false, trace) {
            $0.occurrence = delivered.occurrence
            $0.by = id
            $0.device = device
        }
        if entry.pending?.requestID != delivered.requestID { close(delivered.requestID) }
        hide()
        recall(through: delivered.channel, by: id, trace)
    }
}
