import NotificationModel
import NotificationState

/// What changes the devices of a recipient: registrations, and claims of tokens.
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

    // MARK: - What follows for the entries

    /// Applies a registration, its end or a retirement after what follows from it for the recipient's entries: a device that
    /// leaves or may not show notifications any more is asked to remove them, and what waits on the recipient's clock moves with
    /// it.
    ///
    /// - Parameter written: the timestamp of the input's record.
    mutating func follow(
        _ input: CenterInput,
        of recipient: NotificationKey,
        writtenAt written: Timestamp,
        at now: Timestamp
    ) throws -> CenterInput.Outcome {
        var tasks: [Procedure.Task] = []
        let before = try self.recipient(of: recipient) ?? RecipientRecord()
        var after = before
        if let departure = try departure(from: &after, by: input, at: now) { tasks.append(.departure(departure)) }
        if let name = after.timeZone, name != before.timeZone,
            let zone = try? rules.zones?.database.rules(named: name)
        {
            // The previous owner may have moved and sent it.
            tasks.append(.move(to: zone, mayHaveBeenSent: bench.conditions.mayHaveBeenRead(written)))
        }
        if case .registration(let input) = input, let error = try refusal(of: input) { return .refused(error) }
        if !tasks.isEmpty { return try begin(tasks, of: input, recipient, at: now) }
        switch input {
        case .registration(let input): return try apply(input, at: now)
        case .signal(let input): return try apply(input, at: now)
        case .request, .removal, .fix, .claim: return .unknown
        }
    }

    /// Why there is no room for a registration; nil when there is.
    private mutating func refusal(of input: CenterInput.Registration) throws -> ModelError? {
        guard let registration = input.registration else { return nil }
        guard try hasRoom(forLasting: input.key.ofRecipient) else {
            return ModelError(.capped, "the partition has no room for another recipient's devices (center.recipients)")
        }
        let device = RecipientRecord.RegisteredDevice(
            name: input.key.identifier,
            registration: registration,
            writtenAt: input.timestamp
        )
        guard device.bytes > rules.recipientBytes else { return nil }
        return ModelError(
            .tooLarge,
            "the device needs \(device.bytes) bytes of its recipient's record, which has room for "
                + "\(rules.recipientBytes) (message.max.bytes)"
        )
    }

    /// Makes the change of an input in a copy of the recipient's record.
    ///
    /// - Returns: the devices that have to remove what they show; nil when there are none, or their apps are gone.
    private mutating func departure(
        from record: inout RecipientRecord,
        by input: CenterInput,
        at now: Timestamp
    ) throws -> Procedure.Departure? {
        switch input {
        case .registration(let input):
            guard !record.hasApplied(input.position) else { return nil }
            let (name, writtenAt) = (input.key.identifier, record.writtenAt(input.timestamp))
            guard let registration = input.registration else {
                guard let device = record.unregister(name, writtenAt: writtenAt, at: now), !device.isOfActivity else {
                    return nil
                }
                return Procedure.Departure(of: input.key, at: writtenAt, input.trace)
            }
            let wasPermitted = record.permitsNotifications(on: name)
            let registering = record.register(
                name,
                registration,
                writtenAt: writtenAt,
                at: now,
                atMost: rules.maximumDevices,
                bytes: rules.recipientBytes,
                retiredBytes: rules.retiredBytes
            )
            var departure = Procedure.Departure(of: input.key, at: writtenAt, input.trace)
            if !wasPermitted || registration.authorizationStatus.permitsNotifications { departure.devices = [] }
            if case .changed(_, let dropped) = registering {
                // An earlier installation with the same token is gone.
                for device in dropped where !device.isOfActivity && !device.sharesToken(with: registration) {
                    departure.devices.append(device.name)
                }
            }
            return departure.devices.isEmpty ? nil : departure
        case .signal(let input):
            let retirement: RetirementSignal
            switch input.signal {
            case .retirement(let signal): retirement = signal
            case .report(let report):
                guard let sent = try sent(report, to: input.recipient, at: now) else { return nil }
                retirement = RetirementSignal(device: report.device, token: nil, gone: sent)
            case .response, .receipt, .appState, .location: return nil
            }
            let (application, hasMoved) = (input.recipient.application, retirement.hasMoved)
            guard
                let device = record.retire(
                    retirement.device,
                    token: retirement.token,
                    gone: retirement.gone,
                    in: application,
                    at: now
                ), hasMoved, !device.isOfActivity
            else { return nil }
            let key = try input.recipient.withIdentifier(retirement.device)
            return Procedure.Departure(of: key, at: retirement.gone, input.trace)
        case .request, .removal, .fix, .claim: return nil
        }
    }

    // MARK: - Registrations

    /// - Parameter shown: by device that leaves, the identifiers under which it showed something.
    mutating func apply(
        _ input: CenterInput.Registration,
        shown: [String: [String]] = [:],
        at now: Timestamp
    ) throws -> CenterInput.Outcome {
        let key = input.key.ofRecipient
        var record = try recipient(of: key) ?? RecipientRecord()
        guard !record.hasApplied(input.position) else {
            // The marker that would say so was not written.
            keepsRecipients = true
            return .duplicate
        }
        record.noteApplied(input.position)
        let writtenAt = record.writtenAt(input.timestamp)
        guard let registration = input.registration else {
            return try unregister(input, &record, writtenAt, shown, at: now)
        }
        let name = input.key.identifier
        let isNewActivity =
            registration.kind == .liveActivity
            && !record.registrations.contains { $0.isActive && $0.sharesToken(with: registration) }
        let outcome = record.register(
            name,
            registration,
            writtenAt: writtenAt,
            at: now,
            atMost: rules.maximumDevices,
            bytes: rules.recipientBytes,
            retiredBytes: rules.retiredBytes
        )
        keep(record, of: key, at: now)
        if let device = record.activeDevice(name) {
            try turn(ofActivityOf: device, key, at: now) {
                $0.activityRegistered(on: device.target, isNew: isNewActivity, input.trace)
            }
        }
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
                let shows = shown[device.name] ?? []
                announce(.retired, dropped, device.registration, at: writtenAt, reason, shows: shows, input.trace)
            }
            return .registered
        }
    }

    private mutating func unregister(
        _ input: CenterInput.Registration,
        _ record: inout RecipientRecord,
        _ writtenAt: Timestamp,
        _ shown: [String: [String]],
        at now: Timestamp
    ) throws -> CenterInput.Outcome {
        guard let device = record.unregister(input.key.identifier, writtenAt: writtenAt, at: now) else {
            return .unknown
        }
        keep(record, of: input.key.ofRecipient, at: now)
        try turn(ofActivityOf: device, input.key.ofRecipient, at: now) {
            $0.activityEnded(on: device.target, at: writtenAt, input.trace)
        }
        release(device.registration, of: input.key, writtenAt, input.trace)
        let shows = shown[input.key.identifier] ?? []
        announce(.retired, input.key, device.registration, at: writtenAt, nil, shows: shows, input.trace)
        return .retired
    }

    /// Runs a turn over the entry of the Live Activity whose token a device has; without one, nothing follows from it.
    ///
    /// - Parameter recipient: its key.
    mutating func turn(
        ofActivityOf device: RecipientRecord.RegisteredDevice,
        _ recipient: NotificationKey,
        at now: Timestamp,
        _ body: (inout Turn) -> Void
    ) throws {
        guard case .activity(let identifier, _)? = device.registration.liveActivity else { return }
        let key = try recipient.withIdentifier(identifier)
        guard try slot(of: key, at: now) != nil else { return }
        try turn(of: key, at: now, from: .clock, body)
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

    mutating func release(
        _ registration: DeviceRegistration,
        of key: NotificationKey,
        _ writtenAt: Timestamp,
        _ trace: CarriedTrace
    ) {
        let claim = TokenClaim(owner: key, writtenAt: writtenAt, isReleased: true)
        add(.claim(claim, token: registration.tokenHash(application: key.application), trace))
    }

    mutating func announce(
        _ name: DeviceEvent.Name,
        _ key: NotificationKey,
        _ registration: DeviceRegistration,
        at: Timestamp,
        _ reason: ReasonCode?,
        shows: [String] = [],
        _ trace: CarriedTrace
    ) {
        var event = DeviceEvent(name, key, registration, at: at, reason, rules)
        event.shows = shows.sorted()
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
}

extension DeviceEvent {
    /// An event of a device, with what the settings tell of its registration.
    init(
        _ name: Name,
        _ key: NotificationKey,
        _ registration: DeviceRegistration,
        at: Timestamp,
        _ reason: ReasonCode?,
        _ rules: LifecycleRules
    ) {
        self.init(name: name, key: key, at: at, platform: registration.platform, reason: reason)
        if registration.kind != .device { kind = registration.kind }
        if name == .retired, rules.listsRegistrations {
            // The topic `devices` may have it no more.
            (token, environment) = (registration.token, registration.environment)
            bundleIdentifier = registration.bundleIdentifier
        }
    }
}

extension Procedure.Departure {
    fileprivate init(of key: NotificationKey, at instant: Timestamp, _ trace: CarriedTrace) {
        let cause = "\(String(decoding: key.encoded, as: UTF8.self)) \(instant.rawValue)"
        self.init(
            devices: [key.identifier],
            id: RequestID.derive(caller: "retirement", idempotencyKey: cause),
            trace: trace
        )
    }
}
