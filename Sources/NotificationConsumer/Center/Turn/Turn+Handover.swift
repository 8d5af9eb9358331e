import NotificationDelivery
import NotificationModel
import NotificationState

/// The way of a notification to its targets: in an event at once, or by operations of channels that answer later. It ends with
/// one event: `delivered`, or why it was not.
extension Turn {
    /// Hands a notification over, with its content as it is, to the devices that may present it.
    ///
    /// - Parameter facts: of its content, if they were read before.
    mutating func handOver(_ handover: consuming StateEntry.Handover, _ facts: ContentFacts? = nil) {
        handover.start = nil
        switch rules.channels.handover(of: handover.channel) {
        case .inEvent: if address(&handover, facts) { deliver(handover) }
        case .bySend:
            guard address(&handover, facts) else { return }
            listTargets(of: handover)
            entry.handover = handover
        // The settings had it when the request was accepted.
        case .unavailable: fail(handover, .unsupportedForm)
        }
    }

    /// Begins what waited: for its enrichment, for the backlog, or for the end of quiet hours.
    mutating func resume(_ handover: StateEntry.Handover) {
        if hasExpired(handover) { return expire(handover) }
        if case .until(let end)? = handover.enrichment { return continueEnrichment(of: handover, until: end) }
        entry.handover = nil
        if !isHeldBack(handover) { handOver(handover) }
    }

    func hasExpired(_ handover: StateEntry.Handover) -> Bool { handover.expiration.map { $0 <= now } ?? false }

    mutating func expire(_ handover: StateEntry.Handover) { end(handover, as: .expired, handover.trace) }

    private mutating func fail(_ handover: StateEntry.Handover, _ reason: ReasonCode) {
        end(handover, as: .failed, handover.trace) { $0.reason = reason }
    }

    // MARK: - Answers of channels

    /// Applies the result of an attempt.
    ///
    /// - Returns: false when the entry expects no such answer: it is late, or a duplicate.
    mutating func apply(_ result: ChannelResult, to send: ChannelSend) -> Bool {
        guard let operation = entry.screen?.take(send.id, attempt: send.attempt) else { return false }
        isChanged = true
        attempts -= 1
        cause = Cause(
            id: operation.cause ?? operation.showing?.requestID,
            trace: operation.trace,
            time: now,
            isTentative: true
        )
        var isOfHandover = false
        // Whatever the channel says: a person has answered it.
        var isAnswered = false
        if let handover = entry.handover, operation.delivers(handover.showing) {
            (isOfHandover, isAnswered) = (true, handover.answer != nil)
        }
        switch isAnswered ? .accepted : result {
        case .accepted, .reduced, .removed:
            if endNextActivity(after: operation, send) { return true }
            if isOfHandover, let showing = operation.showing, entry.isInDoubt(showing) {
                entry.handover?.isInDoubt = true
            }
            activityStarted(by: operation, send)
            entry.screen?.note(.accepted, of: operation)
            keepAddressIfLeft(by: operation, send.registration)
            switch result {
            case .reduced(let parts): entry.screen?.note(parts, of: operation)
            case .removed(let outcome): note(outcome, of: operation)
            default: note(.requested, of: operation)
            }
        case .rejected(let reason): refuse(operation, reason)
        case .gone(let instant):
            if endNextActivity(after: operation, send) { return true }
            refuse(operation, .unregistered)
            retire(operation.devices, send.registration, goneAt: instant)
        case .failed, .unanswered, .deferred:
            if case .unanswered = result { entry.screen?.note(.unanswered, of: operation) }
            guard !isOfHandover || !isToBeEnded else { break }
            if let next = next(operation, after: result) {
                entry.screen?.operations.append(next)
            } else {
                refuse(operation)
            }
        }
        if isOfHandover, let handover = entry.handover {
            if handover.isClosed { settle(operation, of: handover) } else { settle(handover) }
        }
        followActivity(result, operation, send)
        return true
    }

    /// No further attempt is made. Where targets were to be brought back to what the events say, nothing more can be done.
    ///
    /// - Parameter reason: nil when all attempts are used up.
    mutating func refuse(_ operation: ScreenOperation, _ reason: ReasonCode? = nil) {
        guard var screen = entry.screen else { return }
        screen.note(operation.isQuiet ? .accepted : .refused(reason), of: operation) {
            shown(on: $0.device, $0.channel)
        }
        entry.screen = screen
        note(.impossible, because: reason ?? .gaveUp, of: operation)
    }

    /// The platform no longer knows the token of a device: the recipient's record retires it, as when a gateway says so.
    mutating func retire(_ devices: [String], _ registration: DeviceRegistration?, goneAt instant: Timestamp) {
        guard var device = devices.first, let registration else { return }
        // The token of a Live Activity has a name of its own.
        if registration.kind == .liveActivity {
            guard let name = recipient.name(of: registration) else { return }
            device = name
        }
        let signal = RetirementSignal(
            application: key.application,
            device: device,
            token: registration.token,
            gone: instant
        )
        effects.append(.signal(.retirement(signal), recipient: key.recipient, cause.trace))
    }

    /// Whether something waits for the end of the handover: a newer request, or a removal.
    private var isToBeEnded: Bool { entry.handover?.cancelledBy != nil || newer != nil }

    /// The request that waits for the end of the handover.
    private var newer: RequestID? {
        guard let pending = entry.pending, let handover = entry.handover, !handover.isClosed else { return nil }
        return pending.requestID != handover.showing.requestID ? pending.requestID : nil
    }

    /// The operation with its next attempt; nil when the last one was made. One that expires first waits only until then.
    private func next(_ operation: ScreenOperation, after result: ChannelResult) -> ScreenOperation? {
        var next = operation
        let request: Int64?
        switch result {
        case .failed(let pause), .unanswered(let pause): (request, _) = (pause, next.wait(until: now, isTried: true))
        case .deferred(let pause): (request, _) = (pause, next.wait(until: now, isTried: false))
        case .accepted, .reduced, .removed, .rejected, .gone: return nil
        }
        let spent = next.begun.map { max(0, now.rawValue - $0.rawValue) } ?? 0
        guard let id = operation.id,
            let pause = rules.retry.pause(after: next.attempt - 1, of: id, spent: spent, request: request)
        else { return nil }
        var time = now.adding(milliseconds: pause)
        if operation.goal != .remove, !operation.isQuiet, let expiration = entry.handover?.expiration {
            time = max(now, min(time, expiration))
        }
        next.phase = .waiting(until: time)
        return next
    }

    /// Ends the handover once each operation of its first round was answered, and what waits for its end once nothing is in
    /// flight. Each target that answers later has an event of its own.
    mutating func settle(_ handover: StateEntry.Handover) {
        guard let screen = entry.screen else { return }
        let open = screen.operations.filter { $0.delivers(handover.showing) }
        let refusal = screen.targets.last { $0.hasRefused(handover.showing) && $0.refusal != nil }?.refusal
        guard !open.contains(where: { $0.isInFlight && ($0.attempt == 1 || isToBeEnded) }) else { return }
        if screen.targets.contains(where: { $0.surelyShows(handover.showing) }) {
            accepted(handover)
        } else if handover.cancelledBy != nil {
            end(handover, as: .cancelled, handover.trace)
        } else if let newer, refusal == nil {
            end(handover, as: .superseded, handover.trace) { $0.by = newer }
        } else if open.isEmpty, refusal == .noDevice {
            suppress(handover, .noDevice)
        } else if open.isEmpty {
            fail(handover, refusal ?? .gaveUp)
        } else if let removal = handover.removedBy {
            // It found nothing that was delivered.
            entry.handover?.removedBy = nil
            miss(removal, handover.trace, known: .unknown)
        }
    }

    // MARK: - Delivered

    /// Targets show it: by the answer of a channel, or by that of a person.
    mutating func accepted(_ handover: StateEntry.Handover) {
        var handover = handover
        // It is not written.
        if handover.addressees == nil { describe(&handover) }
        let isOpen = entry.screen?.isDelivering(handover.showing) ?? false
        handover.isClosed = true
        entry.handover = isOpen ? handover : nil
        deliver(handover)
        guard let delivered = entry.delivered else { return }
        if let removal = handover.cancelledBy, removal != handover.removedBy {
            miss(removal, handover.trace, known: .delivered)
        }
        if let removal = handover.removedBy {
            remove(delivered, by: removal, from: nil, handover.trace)
        } else if let answer = handover.answer {
            take(delivered, answeredBy: answer.id, on: answer.device, handover.trace)
        } else if delivered.devices.isEmpty, handover.devices != nil, !isOpen {
            // All of its devices have left meanwhile.
            let id = RequestID.derive(caller: "retirement", idempotencyKey: "\(delivered.requestID)")
            remove(delivered, by: id, from: nil, handover.trace)
        }
    }

    /// Devices answer after the others, with which it was delivered.
    mutating func settle(_ operation: ScreenOperation, of handover: StateEntry.Handover) {
        let showing = handover.showing
        for target in entry.screen?.targets ?? [] where operation.concerns(target) {
            let isRefused = target.hasRefused(showing)
            guard let device = target.device, isRefused || target.surelyShows(showing) else { continue }
            publish(.deviceAttempted, of: showing.requestID, closes: false, handover.trace) {
                $0.occurrence = showing.occurrence
                $0.device = device
                $0.outcome = isRefused ? .rejected : .accepted
                $0.reason = isRefused ? target.refusal ?? .gaveUp : nil
                if !isRefused { $0.reduced = target.reduced }
            }
            // One that has left meanwhile removes it.
            if !isRefused, handover.devices?.containsUTF8(of: device) ?? true, let details = entry.delivered?.details {
                entry.delivered?.details = details.on(details.devices + [device])
            }
        }
        let isOpen = entry.screen?.isDelivering(showing) ?? false
        if !isOpen { entry.handover = nil }
    }

    /// Publishes `delivered`, and keeps what responses are checked against and carry.
    private mutating func deliver(_ handover: StateEntry.Handover) {
        // They are known by what is delivered only until that changes.
        if entry.isDelivered { listShown() }
        let earlier = entry.delivered.take()
        let showing = handover.showing
        var (replaced, isUpdate) = (nil as RequestID?, false)
        if let earlier {
            isUpdate = true
            if earlier.requestID != showing.requestID { replaced = earlier.requestID }
        }
        let channel = rules.channels.name(of: handover.channel)
        let devices = handover.addressees?.list.map { outcomes(of: handover, $0) }
        let inDoubt = handover.isInDoubt || entry.isInDoubt(showing)
        let parent = rules.isTraced ? handover.trace.sampled : nil
        var span: SpanContext?
        publish(.delivered, of: showing.requestID, closes: handover.closes, inDoubt: inDoubt, handover.trace) {
            $0.occurrence = showing.occurrence
            $0.channel = channel.rawValue
            $0.content = handover.content
            if case .ended(let report)? = handover.enrichment { $0.enrichment = report }
            $0.replaces = replaced
            $0.expiration = handover.expiration
            $0.hasFormerID = showing.isFormer
            if let addressees = handover.addressees {
                $0.devices = devices
                $0.actions = addressees.category?.actionsJSON
                $0.thread = addressees.thread.map { .init(identifier: $0, isUpdate: isUpdate) }
            }
            if let parent { span = parent.child(SpanHash.sending($0.eventID)) }
        }
        if let replaced { close(replaced) }
        let names = shownDevices(of: handover)
        let kept = handover.content.count <= rules.keptContentBytes ? handover.content : nil
        var former: StateEntry.Delivered.Details.Former?
        if let earlier, !names.isEmpty, !earlier.devices.isEmpty,
            rules.channels.areSame(earlier.channel, handover.channel), !earlier.showing.isSameOccurrence(as: showing)
        {
            former = .init(earlier.showing, on: earlier.devices)
        }
        entry.delivered = .init(
            requestID: showing.requestID,
            occurrence: showing.occurrence,
            round: showing.round,
            at: now,
            channel: handover.channel,
            details: .init(
                content: kept,
                category: handover.addressees?.category?.kept,
                devices: names,
                former: former,
                span: span
            )
        )
        noteDelivered(showing)
        if !entry.marks.isEmpty { judgeReports(handover.trace) }
    }

    /// The devices that show it for certain.
    private func shownDevices(of handover: StateEntry.Handover) -> [String] {
        guard let devices = handover.devices, rules.channels.isSent(handover.channel), let screen = entry.screen else {
            return handover.devices ?? []
        }
        let channel = rules.channels.route(of: handover.channel)
        return devices.filter { device in
            screen.place(of: device, on: channel).map { screen.targets[$0].surelyShows(handover.showing) } ?? false
        }
    }

    // MARK: - Not delivered

    /// Ends a notification that was not delivered. A removal that waited for this end has cancelled it.
    ///
    /// - Parameter trace: of the cause of the event.
    mutating func end(
        _ handover: StateEntry.Handover,
        as name: DeliveryEventName,
        _ trace: CarriedTrace,
        _ fill: (inout DeliveryEvent) -> Void = { _ in }
    ) {
        entry.handover = nil
        // It was delivered to some: the others do not get it any more.
        guard !handover.isClosed else { return }
        if conditions.isBacklogInDoubt, rules.channels.isSent(handover.channel), entry.isInDoubt(handover.showing) {
            // An owner before may have addressed it again, to devices that are registered in the backlog.
            doubt(handover.showing, of: handover.content, on: handover.channel)
        }
        let id = handover.showing.requestID
        publish(
            handover.cancelledBy == nil ? name : .cancelled,
            of: id,
            closes: handover.closes,
            inDoubt: entry.isInDoubt(handover.showing),
            trace
        ) {
            $0.occurrence = handover.showing.occurrence
            if let removal = handover.cancelledBy { $0.by = removal } else { fill(&$0) }
        }
        if handover.closes { close(id) }
        stopEnrichment(of: handover)
        takeBackBadges(of: handover)
        if let removal = handover.removedBy, removal != handover.cancelledBy {
            miss(removal, handover.trace, known: .unknown)
        }
    }

    /// Nobody shows it any more: it leaves the delivered set, and its targets are asked to remove it.
    ///
    /// - Parameter device: the one that it has left already; nil when it is on all.
    mutating func remove(
        _ delivered: StateEntry.Delivered,
        by id: RequestID,
        from device: String?,
        _ trace: CarriedTrace
    ) {
        let names = removalNames(of: delivered, except: device)
        tellRemoved(delivered.showing, by: id, left: device, from: names, on: delivered.channel, trace)
        if let content = delivered.details?.content, let date = LiveActivityFacts(content)?.dismissalDate {
            entry.screen?.removal?.dismissalDate = date
        }
        hide(delivered)
    }

    /// What was shown is shown no more, by the events.
    mutating func hide(_ delivered: StateEntry.Delivered) {
        // It was for the devices that have not answered yet.
        if entry.handover?.isClosed ?? false { entry.handover = nil }
        // Unless the same request goes on.
        if entry.pending?.requestID != delivered.requestID, entry.handover?.showing.requestID != delivered.requestID {
            close(delivered.requestID)
        }
        listShown()
        entry.delivered = nil
        entry.screen?.endRefusals()
    }
}
