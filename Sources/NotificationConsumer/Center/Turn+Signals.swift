import NotificationModel

/// What comes back: responses of persons, receipts of devices, reports of gateways.
extension Turn {
    // MARK: - Responses

    /// Applies what a person did with a notification. It is checked against the notification and its category as they were
    /// delivered; what answers something else is published without them, so that no tap is lost.
    mutating func apply(_ response: ResponseSignal, of input: CenterInput.Signal) -> CenterInput.Outcome {
        let id = Self.responseID(response.responseID)
        guard !entry.hasApplied(input.position),
            !entry.remembers(id, since: rules.rememberedSince(input.timestamp))
        else { return .duplicate }
        guard let delivered = shown(response.requestID) else {
            note(response, id, input)
            respond(response, to: nil, input.trace)
            return .unmatched
        }
        if let error = refusal(of: response, delivered.details?.category) { return .refused(error) }
        note(response, id, input)
        let policy = delivered.details?.category?.response ?? .forward
        if policy == .forward { respond(response, to: delivered, input.trace) }
        // The person has dismissed it, whatever the category does with responses.
        let isKept = policy == .keep && response.actionIdentifier != ResponseSignal.dismissAction
        if !isKept, entry.delivered?.requestID == response.requestID {
            take(delivered, answeredBy: response, input.trace)
        }
        return .matched
    }

    /// What a request shows. A response may come before the channel has said that it has sent the notification.
    private func shown(_ id: RequestID) -> StateEntry.Delivered? {
        if let delivered = entry.delivered, delivered.requestID == id { return delivered }
        guard let sending = entry.sending, sending.requestID == id, sending.content != nil, !sending.isBeingEnriched
        else {
            return nil
        }
        return .init(requestID: id, occurrence: sending.occurrence, at: now, details: details(of: sending))
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
        case ResponseSignal.dismissAction:
            guard category?.hasDismissAction != true else { return nil }
            return ModelError(
                .unknownAction,
                field: "actionIdentifier",
                "a dismissal is a response only with the option customDismissAction of the category"
            )
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
        to delivered: StateEntry.Delivered?,
        _ trace: CarriedTrace
    ) {
        var text = response.userText
        // A text input that nobody typed into is empty, not missing.
        if delivered?.details?.category?.action(response.actionIdentifier) == .textInput { text = text ?? "" }
        var event = ResponseEvent(
            responseID: response.responseID,
            requestID: response.requestID,
            key: key,
            actionIdentifier: response.actionIdentifier,
            matched: delivered != nil
        )
        (event.device, event.userText) = (response.device, text)
        event.categoryIdentifier = delivered?.details?.category?.identifier
        event.content = delivered?.details?.content
        effects.append(.respond(event, trace))
    }

    /// The notification has left the device on which the person answered it; the others are asked to remove it.
    private mutating func take(
        _ delivered: StateEntry.Delivered,
        answeredBy response: ResponseSignal,
        _ trace: CarriedTrace
    ) {
        publish(.removed, of: delivered.requestID, closes: false, trace) {
            $0.occurrence = delivered.occurrence
            $0.by = response.responseID
            $0.device = response.device
        }
        if entry.pending?.requestID != delivered.requestID, entry.sending?.requestID != delivered.requestID {
            close(delivered.requestID)
        }
        hide()
        if entry.sending == nil, delivered.details?.targets ?? 0 > 1 {
            recall(through: delivered.channel, by: response.responseID, trace)
        }
    }

    // MARK: - Receipts and reports

    /// Applies a receipt: each kind counts once for a device and request.
    mutating func apply(_ receipt: ReceiptSignal, of input: CenterInput.Signal) -> CenterInput.Outcome {
        let (name, kind): (DeliveryEventName, StateEntry.DeviceMark.Kinds) =
            switch receipt.receipt {
            case .received: (.deviceReceived, .received)
            case .presented: (.devicePresented, .presented)
            case .opened: (.deviceOpened, .opened)
            }
        guard mark(receipt.requestID, receipt.device, kind, input) else { return .duplicate }
        let isLate = entry.delivered?.requestID != receipt.requestID
        publish(name, of: receipt.requestID, closes: false, input.trace) {
            $0.device = receipt.device
            $0.isLate = isLate
        }
        return isLate ? .unmatched : .matched
    }

    /// Applies what a gateway says of its attempt at a device. When every device has refused the notification, it has failed.
    mutating func apply(_ report: ReportSignal, of input: CenterInput.Signal) -> CenterInput.Outcome {
        let kind: StateEntry.DeviceMark.Kinds = report.outcome == .accepted ? .accepted : .refused
        guard mark(report.requestID, report.device, kind, input) else { return .duplicate }
        let isLate = entry.delivered?.requestID != report.requestID
        let reason: ReasonCode? =
            switch report.outcome {
            case .accepted: nil
            case .rejected: .rejected
            case .unregistered: .unregistered
            }
        publish(.deviceAttempted, of: report.requestID, closes: false, input.trace) {
            $0.device = report.device
            $0.outcome = report.outcome
            $0.reason = reason
            $0.detail = report.reason
            $0.isLate = isLate
        }
        guard !isLate, let delivered = entry.delivered, let reason, let targets = delivered.details?.targets,
            targets > 0
        else { return isLate ? .unmatched : .matched }
        let marks = entry.marks.filter { $0.requestID == report.requestID }
        let refused = marks.filter { $0.kinds.contains(.refused) && !$0.kinds.contains(.accepted) }.count
        if refused >= targets { fail(delivered, reason, input.trace) }
        return .matched
    }

    /// No device shows it. Its request has closed with `delivered`.
    private mutating func fail(_ delivered: StateEntry.Delivered, _ reason: ReasonCode, _ trace: CarriedTrace) {
        publish(.failed, of: delivered.requestID, closes: false, trace) {
            $0.occurrence = delivered.occurrence
            $0.reason = reason
        }
        if entry.pending?.requestID != delivered.requestID, entry.sending?.requestID != delivered.requestID {
            close(delivered.requestID)
        }
        hide()
    }

    /// Notes what was told about a request.
    ///
    /// - Returns: whether it is new.
    private mutating func mark(
        _ id: RequestID,
        _ device: String,
        _ kind: StateEntry.DeviceMark.Kinds,
        _ input: CenterInput.Signal
    ) -> Bool {
        guard !entry.hasApplied(input.position) else { return false }
        if let index = entry.marks.firstIndex(where: { $0.requestID == id && $0.device.hasSameUTF8(as: device) }) {
            guard !entry.marks[index].kinds.contains(kind) else { return false }
            entry.marks[index].kinds.insert(kind)
        } else {
            if entry.marks.count >= ModelLimits.deviceMarks { entry.marks.removeFirst() }
            entry.marks.append(.init(requestID: id, device: device, kinds: kind))
        }
        isChanged = true
        entry.noteApplied(input.position)
        return true
    }
}
