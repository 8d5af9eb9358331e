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
        if policy != .keep || response.actionIdentifier == ResponseSignal.dismissAction { take(response, input.trace) }
        return .matched
    }

    /// What a request shows. A response may come before the channel has said that it has sent the notification, or after an
    /// owner ended that did not note it.
    private func shown(_ id: RequestID) -> StateEntry.Delivered? {
        if let delivered = entry.delivered, delivered.requestID == id { return delivered }
        if let sending = entry.sending, sending.requestID == id, let content = sending.content,
            !sending.isBeingEnriched
        {
            // The addressees are not written: after a restart its category is the present one.
            let category = sending.addressees.map(\.category) ?? categories.category(of: content, for: key)
            let details = details(of: content, category?.kept, on: sending.devices)
            return .init(requestID: id, occurrence: sending.occurrence, at: now, details: details)
        }
        guard let pending = entry.pending, pending.requestID == id, pending.isInDoubt else { return nil }
        let category = categories.category(of: pending.content, for: key)
        let details = details(of: pending.content, category?.kept, on: [])
        return .init(requestID: id, occurrence: nil, at: now, details: details)
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

    /// The person has taken the notification away. What is still being sent follows when its send ends; between two attempts
    /// that is now, because the response shows that a device has it.
    private mutating func take(_ response: ResponseSignal, _ trace: CarriedTrace) {
        if let delivered = entry.delivered, delivered.requestID == response.requestID {
            return take(delivered, answeredBy: response.responseID, on: response.device, trace)
        }
        guard var sending = entry.sending, sending.requestID == response.requestID, sending.answer == nil else {
            return
        }
        sending.answer = .init(id: response.responseID, device: response.device)
        entry.sending = sending
        guard case .waiting = sending.phase else { return }
        entry.sending = nil
        accepted(sending)
    }

    /// It has left the device on which the person answered it; the others are asked to remove it.
    mutating func take(
        _ delivered: StateEntry.Delivered,
        answeredBy id: RequestID,
        on device: String?,
        _ trace: CarriedTrace
    ) {
        remove(delivered, by: id, from: device, trace)
        guard rules.channels.isSent(delivered.channel) else { return }
        let others = delivered.devices.filter { name in device.map { !name.hasSameUTF8(as: $0) } ?? true }
        if delivered.devices.isEmpty || !others.isEmpty {
            recall(from: others, through: delivered.channel, by: id, trace)
        }
    }

    // MARK: - Receipts and reports

    /// Applies a receipt: each kind counts once for a device and occurrence.
    mutating func apply(_ receipt: ReceiptSignal, of input: CenterInput.Signal) -> CenterInput.Outcome {
        let (name, kind): (DeliveryEventName, StateEntry.DeviceMark.Kinds) =
            switch receipt.receipt {
            case .received: (.deviceReceived, .received)
            case .presented: (.devicePresented, .presented)
            case .opened: (.deviceOpened, .opened)
            }
        let (isLate, occurrence) = (isSuperseded(receipt.requestID), lastOccurrence(of: receipt.requestID))
        guard mark(receipt.requestID, occurrence, receipt.device, kind, input) else { return .duplicate }
        publish(name, of: receipt.requestID, closes: false, input.trace) {
            $0.occurrence = occurrence
            $0.device = receipt.device
            $0.isLate = isLate
        }
        return isLate ? .unmatched : .matched
    }

    /// Applies what a gateway says of its attempt at a device. When every device has refused the notification, it has failed.
    mutating func apply(_ report: ReportSignal, of input: CenterInput.Signal) -> CenterInput.Outcome {
        let kind: StateEntry.DeviceMark.Kinds = report.outcome == .accepted ? .accepted : .refused
        let (isLate, occurrence) = (isSuperseded(report.requestID), lastOccurrence(of: report.requestID))
        guard mark(report.requestID, occurrence, report.device, kind, input) else { return .duplicate }
        publish(.deviceAttempted, of: report.requestID, closes: false, input.trace) {
            $0.occurrence = occurrence
            $0.device = report.device
            $0.outcome = report.outcome
            $0.reason = Self.reason(of: report.outcome)
            $0.detail = report.reason
            $0.isLate = isLate
        }
        guard let delivered = entry.delivered, delivered.requestID == report.requestID else {
            return isLate ? .unmatched : .matched
        }
        judge(report.device, refused: Self.reason(of: report.outcome), delivered, input.trace)
        return .matched
    }

    private static func reason(of outcome: ReportSignal.Outcome) -> ReasonCode? {
        switch outcome {
        case .accepted: nil
        case .rejected: .rejected
        case .unregistered: .unregistered
        }
    }

    /// Whether another notification has taken the place of a request's, or nothing is known of the request.
    private func isSuperseded(_ id: RequestID) -> Bool {
        if entry.sending?.requestID == id || entry.delivered?.requestID == id { return false }
        if entry.delivered != nil || entry.sending?.content != nil { return true }
        return !entry.remembers(id, since: rules.rememberedSince(now))
    }

    /// The occurrence of a request that is shown or being sent, or was the last of which anything was told.
    private func lastOccurrence(of id: RequestID) -> Timestamp? {
        if let sending = entry.sending, sending.requestID == id, sending.content != nil { return sending.occurrence }
        if let delivered = entry.delivered, delivered.requestID == id { return delivered.occurrence }
        return entry.marks.last { $0.requestID == id }?.occurrence
    }

    /// Notes on which devices a delivered notification is, by the report of one; only devices that it was given to count.
    private mutating func judge(
        _ device: String,
        refused reason: ReasonCode?,
        _ delivered: StateEntry.Delivered,
        _ trace: CarriedTrace
    ) {
        guard let details = delivered.details else { return }
        let kinds = entry.marks.first { $0.isOf(delivered.requestID, delivered.occurrence, device) }?.kinds
        var devices = details.devices
        if let reason {
            guard kinds?.contains(.accepted) != true, devices.containsUTF8(of: device) else { return }
            devices.removeUTF8(of: device)
            if devices.isEmpty { return fail(delivered, reason, trace) }
        } else {
            // Refused before, when it was one of the devices.
            guard kinds?.contains(.refused) == true, !devices.isEmpty, !devices.containsUTF8(of: device) else { return }
            devices.append(device)
        }
        entry.delivered?.details = details.on(devices)
    }

    /// Applies the reports that came before the channel had accepted the notification.
    mutating func judgeReports(of delivered: StateEntry.Delivered, _ trace: CarriedTrace) {
        for mark in entry.marks
        where mark.isOf(delivered.requestID, delivered.occurrence, mark.device) && mark.kinds.contains(.refused) {
            guard let current = entry.delivered else { return }
            judge(mark.device, refused: .rejected, current, trace)
        }
    }

    /// No device shows it. Its request has closed with `delivered`.
    private mutating func fail(_ delivered: StateEntry.Delivered, _ reason: ReasonCode, _ trace: CarriedTrace) {
        publish(.failed, of: delivered.requestID, closes: false, trace) {
            $0.occurrence = delivered.occurrence
            $0.reason = reason
        }
        closeShown(delivered)
        hide()
    }

    /// Notes what was told about a request.
    ///
    /// - Returns: whether it is new.
    private mutating func mark(
        _ id: RequestID,
        _ occurrence: Timestamp?,
        _ device: String,
        _ kind: StateEntry.DeviceMark.Kinds,
        _ input: CenterInput.Signal
    ) -> Bool {
        guard !entry.hasApplied(input.position) else { return false }
        if let index = entry.marks.firstIndex(where: { $0.isOf(id, occurrence, device) }) {
            guard !entry.marks[index].kinds.contains(kind) else { return false }
            entry.marks[index].kinds.insert(kind)
        } else {
            if entry.marks.count >= ModelLimits.deviceMarks { entry.marks.removeFirst() }
            entry.marks.append(.init(requestID: id, occurrence: occurrence, device: device, kinds: kind))
        }
        isChanged = true
        entry.noteApplied(input.position)
        return true
    }
}

extension StateEntry.DeviceMark {
    fileprivate func isOf(_ id: RequestID, _ occurrence: Timestamp?, _ device: String) -> Bool {
        requestID == id && self.occurrence == occurrence && self.device.hasSameUTF8(as: device)
    }
}
