import NotificationModel

/// Recalls: devices remove what they show under the key. A recall is a send, and sends of one key never overlap, so it waits in
/// the entry while another one is under way. What is sent meanwhile replaces what its devices show; a device that does not get
/// it is still asked to remove the former one.
extension Turn {
    /// Asks devices to remove what they show under the key.
    ///
    /// - Parameters:
    ///   - devices: their names; empty for all that the gateway knows.
    ///   - channel: through which it was sent; only one that sends can recall.
    ///   - id: of the cause.
    mutating func recall(
        from devices: [String],
        through channel: ChannelName?,
        by id: RequestID,
        _ trace: CarriedTrace
    ) {
        guard rules.channels.isSent(channel) else { return }
        isChanged = true
        let recall = StateEntry.Recall(channel: channel, devices: devices, id: id, trace: trace)
        if entry.sending == nil { begin(recall) } else { wait(recall) }
    }

    /// Begins a recall that waits, unless something else is being sent, or comes next and replaces what is shown.
    mutating func beginRecall() {
        guard entry.sending == nil else { return }
        // The service may not have the channel any more.
        entry.recalls.removeAll { !rules.channels.isSent($0.channel) }
        let next = entry.recalls.firstIndex { recall in
            guard let pending = entry.pending, case .turn = pending.timer else { return true }
            return !rules.channels.areSame(pending.channel, recall.channel)
        }
        guard let next else { return }
        isChanged = true
        begin(entry.recalls.remove(at: next))
    }

    private mutating func begin(_ recall: StateEntry.Recall) {
        var sending = StateEntry.Sending(
            requestID: recall.id,
            occurrence: nil,
            content: nil,
            expiration: nil,
            trace: recall.trace,
            closes: false,
            phase: .inFlight(since: now),
            channel: recall.channel
        )
        sending.devices = recall.devices
        if !recall.devices.isEmpty { sending.addressees = .init(recalling: recall.devices) }
        begin(sending)
    }

    /// One for all devices and one for named ones are kept for each channel.
    mutating func wait(_ recall: StateEntry.Recall) {
        let known = entry.recalls.firstIndex {
            rules.channels.areSame($0.channel, recall.channel) && $0.devices.isEmpty == recall.devices.isEmpty
        }
        guard let known else { return entry.recalls.append(recall) }
        for device in recall.devices where !entry.recalls[known].devices.containsUTF8(of: device) {
            entry.recalls[known].devices.append(device)
        }
    }

    /// A newer notification is sent instead of a recall that waits for its next attempt.
    mutating func putBackRecall() {
        guard let recall = entry.sending, recall.content == nil else { return }
        entry.sending = nil
        // Without names it is for all devices, and so is what is sent now.
        guard !recall.devices.isEmpty else { return }
        wait(
            .init(channel: recall.channel, devices: recall.devices, id: recall.requestID, trace: recall.trace)
        )
    }

    /// Devices show another notification instead of what they were to remove.
    mutating func endRecalls(replacedBy sending: StateEntry.Sending) {
        guard !entry.recalls.isEmpty else { return }
        for index in entry.recalls.indices.reversed()
        where rules.channels.areSame(entry.recalls[index].channel, sending.channel) {
            entry.recalls[index].devices.removeAll { sending.devices.containsUTF8(of: $0) }
            if entry.recalls[index].devices.isEmpty { entry.recalls.remove(at: index) }
        }
    }

    // MARK: - Devices that leave

    /// A device is no longer the recipient's: it is asked to remove what it shows or may show.
    ///
    /// - Parameter id: of the cause.
    mutating func leave(_ device: String, by id: RequestID, _ trace: CarriedTrace) {
        var channel: ChannelName??
        if let sending = entry.sending, sending.content != nil, sending.devices.containsUTF8(of: device) {
            isChanged = true
            entry.sending?.devices.removeUTF8(of: device)
            // One that has not begun yet chooses its devices again.
            if case .inFlight = sending.phase { withdraw(sending) }
            channel = sending.channel
        }
        if let delivered = entry.delivered, let details = delivered.details, details.devices.containsUTF8(of: device) {
            isChanged = true
            var others = details.devices
            others.removeUTF8(of: device)
            entry.delivered?.details = details.on(others)
            if !others.contains(where: recipient.hasActiveDevice) { remove(delivered, by: id, from: device, trace) }
            channel = delivered.channel
        }
        if let channel { recall(from: [device], through: channel, by: id, trace) }
    }

    /// Nobody shows it any more: it leaves the delivered set.
    mutating func remove(
        _ delivered: StateEntry.Delivered,
        by id: RequestID,
        from device: String?,
        _ trace: CarriedTrace
    ) {
        publish(.removed, of: delivered.requestID, closes: false, trace) {
            $0.occurrence = delivered.occurrence
            $0.by = id
            $0.device = device
        }
        closeShown(delivered)
        hide()
    }

    /// What was shown ends, unless the same request goes on.
    mutating func closeShown(_ delivered: StateEntry.Delivered) {
        guard entry.pending?.requestID != delivered.requestID, entry.sending?.requestID != delivered.requestID else {
            return
        }
        close(delivered.requestID)
    }
}

extension StateEntry.Delivered {
    /// The names of the devices that show it; empty when they are not known.
    var devices: [String] { details?.devices ?? [] }
}

extension [String] {
    /// Compares bytes: names that look the same are different devices.
    func containsUTF8(of name: String) -> Bool { contains { $0.hasSameUTF8(as: name) } }

    mutating func removeUTF8(of name: String) { removeAll { $0.hasSameUTF8(as: name) } }
}
