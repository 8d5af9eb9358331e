import NotificationModel
import NotificationState

/// Responses of persons.
extension Turn {
    /// Applies what a person did with a notification. It is checked against the notification and its category as they were
    /// delivered; what answers something else is published without them, so that no tap is lost.
    mutating func apply(_ response: ResponseSignal, of input: CenterInput.Signal) -> CenterInput.Outcome {
        let id = Self.responseID(response.responseID)
        guard !entry.hasApplied(input.position),
            !entry.remembers(id, since: rules.rememberedSince(input.timestamp))
        else { return .duplicate }
        cause = Cause(id: response.responseID, trace: input.trace, time: input.timestamp)
        guard let answered = answered(by: response) else {
            note(response, id, input)
            respond(response, to: nil, isMatched: false, input.trace)
            return .unmatched
        }
        if let details = answered.details, let error = refusal(of: response, details.category) {
            return .refused(error)
        }
        note(response, id, input)
        let category = answered.details?.category
        let policy = category?.response ?? .forward
        let isDismissal = response.actionIdentifier == ResponseSignal.dismissAction
        if policy == .forward, !isDismissal || category?.hasDismissAction ?? false || answered.details == nil {
            respond(response, to: answered.details, isMatched: true, input.trace)
        }
        // The person has dismissed it, whatever the category does with responses.
        let isTaken = policy != .keep || isDismissal
        note(answered, answeredBy: response, isTaken: isTaken, input.trace)
        return .matched
    }

    /// What a response answers. It may come before the channel has said that it has sent the notification, or after an owner
    /// ended that did not note it, or on a device that shows something older.
    private enum Answered {
        case delivered(StateEntry.Delivered)
        case handover(StateEntry.Handover, StateEntry.Delivered.Details)
        case pending(StateEntry.Pending, StateEntry.Delivered.Details)
        /// Nothing is kept of what it was.
        case former

        /// What the response is checked against and carries; nil when that is not kept.
        var details: StateEntry.Delivered.Details? {
            switch self {
            case .delivered(let delivered): delivered.details ?? .init(content: nil, category: nil, devices: [])
            case .handover(_, let details), .pending(_, let details): details
            case .former: nil
            }
        }
    }

    private func answered(by response: ResponseSignal) -> Answered? {
        let id = response.requestID
        if let delivered = entry.delivered, delivered.requestID == id { return .delivered(delivered) }
        if let handover = entry.handover, handover.showing.requestID == id, !handover.isBeingEnriched,
            // Nobody can have got what quiet hours hold back.
            handover.start == nil || entry.isInDoubt(handover.showing)
        {
            return .handover(
                handover,
                details(of: handover.content, handover.addressees?.category, handover.devices ?? [], handover.trace)
            )
        }
        if let pending = entry.pending, pending.requestID == id, !pending.isBetweenCrossings, isInDoubt(pending) {
            return .pending(pending, details(of: pending.content, nil, [], pending.trace))
        }
        let isShown = entry.screen?.targets.contains { target in
            target.sure?.requestID == id || target.maybes.contains { $0.requestID == id }
        }
        return isShown ?? false ? .former : nil
    }

    private func details(
        of content: ArraySlice<UInt8>,
        _ category: NotificationCategory?,
        _ devices: [String],
        _ trace: CarriedTrace
    ) -> StateEntry.Delivered.Details {
        // After a restart its category is the present one.
        let category = category ?? conditions.categories.category(of: ContentFacts(content), in: content, for: key)
        return .init(
            content: content.count <= rules.keptContentBytes ? content : nil,
            category: category?.kept,
            devices: devices,
            span: rules.isTraced ? trace.sampled : nil
        )
    }

    /// A response is known by an id of its own kind: it may be equal to that of a request.
    private static func responseID(_ id: RequestID) -> RequestID {
        .derive(caller: "response", idempotencyKey: "\(id)")
    }

    private mutating func note(_ response: ResponseSignal, _ id: RequestID, _ input: CenterInput.Signal) {
        isChanged = true
        entry.noteApplied(input.position)
        entry.remember(id, at: now, since: rules.rememberedSince(now))
    }

    /// Why the category does not have the action; nil when it has.
    private func refusal(of response: ResponseSignal, _ category: KeptCategory?) -> ModelError? {
        switch response.actionIdentifier {
        case ResponseSignal.defaultAction: return nil
        // It removes the notification; only with the option customDismissAction of the category it is told.
        case ResponseSignal.dismissAction: return nil
        default:
            guard category?.action(response.actionIdentifier) == nil else { return nil }
            return ModelError(
                .unknownAction,
                field: "actionIdentifier",
                "the category of the delivered notification does not have this action"
            )
        }
    }

    private mutating func respond(
        _ response: ResponseSignal,
        to details: StateEntry.Delivered.Details?,
        isMatched: Bool,
        _ trace: CarriedTrace
    ) {
        var text = response.userText
        // A text input that nobody typed into is empty, not missing.
        if details?.category?.action(response.actionIdentifier) == .textInput { text = text ?? "" }
        var event = ResponseEvent(
            responseID: response.responseID,
            requestID: response.requestID,
            key: key,
            actionIdentifier: response.actionIdentifier,
            matched: isMatched
        )
        (event.device, event.userText) = (response.device, text)
        event.categoryIdentifier = details?.category?.identifier
        event.content = details?.content
        if rules.isTraced, let delivery = details?.span { effects.append(.answer(delivery)) }
        effects.append(.respond(event, trace))
    }

    /// A person has answered it, so a device shows it.
    ///
    /// - Parameter isTaken: whether the answer takes it away.
    private mutating func note(
        _ answered: Answered,
        answeredBy response: ResponseSignal,
        isTaken: Bool,
        _ trace: CarriedTrace
    ) {
        switch answered {
        case .delivered(let delivered):
            if isTaken { take(delivered, answeredBy: response.responseID, on: response.device, trace) }
        case .handover(let handover, _):
            guard isTaken || !isInFlight else { return }
            if isTaken, handover.answer == nil {
                // After an attempt without an answer, the next one may show it there once more.
                let comesAgain = isInFlight && entry.screen?.mayRepeat(handover.showing, on: response.device) ?? false
                entry.handover?.answer = .init(id: response.responseID, device: comesAgain ? nil : response.device)
            }
            // What is in flight is answered by its channel, too.
            if !isInFlight, let handover = entry.handover { acceptAnswered(handover, on: response.device) }
        case .pending(let pending, _):
            endWait(of: pending)
            // What was being sent is older: it is replaced on the device that has answered.
            if let former = entry.handover {
                end(former, as: .superseded, trace) { $0.by = pending.requestID }
            }
            var handover = handover(of: pending, occurrence: pending.occurrence, closes: entry.pending == nil)
            if isTaken { handover.answer = .init(id: response.responseID, device: response.device) }
            entry.handover = handover
            acceptAnswered(handover, on: response.device)
        case .former: settle(response, isTaken: isTaken)
        }
    }

    /// An attempt without an answer has reached the device of the response.
    private mutating func acceptAnswered(_ handover: StateEntry.Handover, on device: String?) {
        var handover = handover
        handover.isInDoubt = handover.isInDoubt || entry.isInDoubt(handover.showing)
        if handover.devices == nil, let device, recipient.knowsDevices { handover.devices = [device] }
        handover.start = nil
        if rules.channels.isSent(handover.channel) {
            listTargets(of: handover)
            spreadOverDevices()
            let channel = rules.channels.route(of: handover.channel)
            for place in entry.screen?.targets.indices ?? 0..<0 where entry.screen?.targets[place].channel == channel {
                guard let target = entry.screen?.targets[place] else { continue }
                // Without the name of a device it is on those that it was sent to.
                let isAnswered =
                    device.map { device in target.device.map { $0.hasSameUTF8(as: device) } ?? true }
                    ?? (target.device == nil || target.isInDoubt(handover.showing))
                if isAnswered { entry.screen?.targets[place].settle(handover.showing) }
            }
        }
        accepted(handover)
    }

    /// A device showed something older: what it was is known now.
    private mutating func settle(_ response: ResponseSignal, isTaken: Bool) {
        for place in entry.screen?.targets.indices ?? 0..<0 {
            guard let target = entry.screen?.targets[place],
                response.device == nil || target.device == nil
                    || target.device.map({ $0.hasSameUTF8(as: response.device ?? "") }) ?? false,
                let showing = (target.maybes + [target.sure].compactMap { $0 }).first(where: {
                    $0.requestID == response.requestID
                })
            else { continue }
            // Of all that the gateway knows, the others show it still.
            let isGone = isTaken && (target.device != nil || response.device == nil)
            entry.screen?.targets[place].settle(isGone ? nil : showing)
            isChanged = true
        }
    }

    /// It has left the device on which the person answered it; the others are asked to remove it.
    mutating func take(
        _ delivered: StateEntry.Delivered,
        answeredBy id: RequestID,
        on device: String?,
        _ trace: CarriedTrace
    ) {
        remove(delivered, by: id, from: device, trace)
        guard let device,
            let place = entry.screen?.place(of: device, on: rules.channels.route(of: delivered.channel))
        else { return }
        entry.screen?.targets[place].end(delivered.showing)
    }
}
