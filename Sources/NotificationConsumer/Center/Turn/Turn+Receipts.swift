import NotificationModel
import NotificationState

/// Receipts of devices, and reports of gateways.
extension Turn {
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
        let kind: StateEntry.DeviceMark.Kinds =
            switch report.outcome {
            case .accepted: .accepted
            case .deferred: .deferred
            case .rejected, .unregistered: .refused
            }
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
            if kind == .refused { endFormer(report) }
            return isLate ? .unmatched : .matched
        }
        if report.outcome == .deferred { return .matched }
        judge(report.device, refused: Self.reason(of: report.outcome), delivered, input.trace)
        return .matched
    }

    private static func reason(of outcome: ReportSignal.Outcome) -> ReasonCode? {
        switch outcome {
        case .accepted, .deferred: nil
        case .rejected: .rejected
        case .unregistered: .unregistered
        }
    }

    /// Whether another notification has taken the place of a request's, or nothing is known of the request.
    private func isSuperseded(_ id: RequestID) -> Bool {
        if entry.handover?.showing.requestID == id || entry.delivered?.requestID == id { return false }
        if entry.isDelivered || entry.hasHandover { return true }
        return !entry.remembers(id, since: rules.rememberedSince(now))
    }

    /// The occurrence of a request that is shown or being sent, or was the last of which anything was told.
    private func lastOccurrence(of id: RequestID) -> Timestamp? {
        if let handover = entry.handover, handover.showing.requestID == id { return handover.showing.occurrence }
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
        let channel = rules.channels.route(of: delivered.channel)
        if let reason {
            guard kinds?.contains(.accepted) != true, devices.containsUTF8(of: device) else { return }
            changeBadge(by: -1, of: delivered, on: device)
            devices.removeUTF8(of: device)
            leave(device, on: channel, refusing: delivered)
            entry.delivered?.details = details.on(devices)
            if devices.isEmpty { fail(delivered, reason, trace) }
        } else {
            // Refused before, when it was one of the devices.
            guard kinds?.contains(.refused) == true, !devices.isEmpty, !devices.containsUTF8(of: device) else { return }
            changeBadge(by: 1, of: delivered, on: device)
            devices.append(device)
            entry.screen?.dropTargets { target in
                target.channel == channel && target.device.map { $0.hasSameUTF8(as: device) } ?? false
            }
            entry.delivered?.details = details.on(devices)
        }
    }

    /// A device that has refused what was delivered goes on showing what it showed before.
    private mutating func leave(_ device: String, on channel: ChannelName, refusing delivered: StateEntry.Delivered) {
        let former = delivered.details?.former
        guard let former, former.devices.containsUTF8(of: device) else { return }
        var screen = entry.screen ?? Screen()
        let place = screen.list(device, on: channel, showing: former.showing)
        screen.targets[place].settle(former.showing)
        screen.targets[place].refuse(delivered.showing, showing: former.showing)
        entry.screen = screen
    }

    /// A device had refused what was replaced meanwhile: it never showed it.
    private mutating func endFormer(_ report: ReportSignal) {
        guard let details = entry.delivered?.details, var former = details.former,
            former.showing.requestID == report.requestID
        else { return }
        former.devices.removeUTF8(of: report.device)
        entry.delivered?.details = .init(
            content: details.content,
            category: details.category,
            devices: details.devices,
            former: former
        )
    }

    /// Applies the reports that came before the channel had accepted the notification.
    mutating func judgeReports(_ trace: CarriedTrace) {
        for mark in entry.marks where mark.kinds.contains(.refused) {
            guard let delivered = entry.delivered else { return }
            guard mark.isOf(delivered.requestID, delivered.occurrence, mark.device) else { continue }
            judge(mark.device, refused: .rejected, delivered, trace)
        }
    }

    /// No device shows it. Its request has closed with `delivered`.
    private mutating func fail(_ delivered: StateEntry.Delivered, _ reason: ReasonCode, _ trace: CarriedTrace) {
        publish(.failed, of: delivered.requestID, closes: false, trace) {
            $0.occurrence = delivered.occurrence
            $0.reason = reason
        }
        hide(delivered)
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
