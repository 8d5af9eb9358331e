package import NotificationModel

/// A removal of what devices show, each by an operation of its own. Its event waits until each device was tried once. A device that
/// answers after that has an event of its own.
package struct OpenRemoval: Sendable, Hashable {
    /// A device that is to remove the notification.
    package struct Device: Sendable, Hashable {
        /// Its name.
        package var name: String
        /// What became of it; nil while that is open.
        package var outcome: RemovalOutcome?
        /// Why it is impossible.
        package var reason: ReasonCode?

        /// A device whose outcome is open.
        package init(_ name: String) { self.name = name }
    }

    /// What is removed.
    package var showing: Showing
    /// The removal or response that caused it.
    package var by: RequestID
    /// The device that it has left already.
    package var left: String?
    /// The route of the devices.
    package var channel: ChannelName
    /// The trace of the cause.
    package var trace: CarriedTrace
    /// In the order of the event.
    package var devices: [Device]
    /// Whether its event was published.
    package var isTold = false
    /// When a Live Activity disappears after its end; nil for at once.
    package var dismissalDate: Timestamp?

    /// A removal that begins.
    package init(
        _ showing: Showing,
        by: RequestID,
        left: String?,
        from names: [String],
        on channel: ChannelName,
        trace: CarriedTrace
    ) {
        (self.showing, self.by, self.left, self.channel) = (showing, by, left, channel)
        (self.trace, self.devices) = (trace, names.map(Device.init))
    }

    /// Whether an operation is of one of its devices.
    func concerns(_ device: Device, _ operation: ScreenOperation) -> Bool {
        operation.channel == channel && operation.devices.containsUTF8(of: device.name)
    }
}

extension Screen {
    /// Whether the event of the removal waits for an answer: an attempt at a device is under way, or its first one is still to come.
    ///
    /// - Parameter isReplaced: whether something newer is on its way to the devices.
    package func isRemovalAwaited(isReplaced: Bool) -> Bool {
        guard let removal else { return false }
        func isAwaited(_ operation: ScreenOperation) -> Bool {
            guard operation.goal == .remove else { return operation.isInFlight && !isReplaced }
            // What waits for the token of a Live Activity may wait for hours.
            return operation.isInFlight || operation.begun == nil && !isReplaced && !operation.awaitsToken
        }
        return removal.devices.contains { device in
            device.outcome == nil && operations.contains { removal.concerns(device, $0) && isAwaited($0) }
        }
    }

    /// Whether something is still done about a device of the removal.
    package func isRemovalOpen(on device: OpenRemoval.Device) -> Bool {
        guard let removal, device.outcome == nil else { return false }
        return operations.contains { operation in
            removal.concerns(device, operation) && (operation.isInFlight || operation.goal == .remove)
        }
    }

    /// Notes what became of a removal.
    ///
    /// - Returns: the devices whose outcome comes after the event.
    package mutating func note(_ outcome: RemovalOutcome, because reason: ReasonCode?, of operation: ScreenOperation)
        -> [String]
    {
        guard var removal, operation.goal == .remove else { return [] }
        var late: [String] = []
        for place in removal.devices.indices
        where removal.devices[place].outcome == nil && removal.concerns(removal.devices[place], operation) {
            (removal.devices[place].outcome, removal.devices[place].reason) = (outcome, reason)
            if removal.isTold { late.append(removal.devices[place].name) }
        }
        self.removal = removal
        return late
    }
}

extension OpenRemoval: StatePart, JSONWritable {
    private enum Field: FieldName {
        case showing, by, left, channel, devices, told, dismissalDate
    }

    var form: Int { dismissalDate == nil ? channel.form : StateForm.liveActivities }

    init(_ scanner: inout JSONScanner) throws(ModelError) {
        var (showing, by, channel): (Showing?, RequestID?, ChannelName?)
        var (left, devices, isTold) = (nil as String?, [] as [Device], false)
        var dismissalDate: Timestamp?
        var trace = CarriedTrace.Scan()
        try trace.object(of: Field.self, in: &scanner) { scanner, field throws(ModelError) in
            switch field {
            case .showing: showing = try Showing(&scanner)
            case .by: by = try scanner.requestID()
            case .left: left = scanner.materialise(try scanner.string())
            case .channel: channel = try scanner.choice(ChannelName.self)
            case .devices:
                try scanner.array { scanner, _ throws(ModelError) in devices.append(try Device(&scanner)) }
            case .told: isTold = try scanner.boolean()
            case .dismissalDate: dismissalDate = try scanner.timestamp()
            }
        }
        self.init(
            try scanner.required(showing, Field.showing),
            by: try scanner.required(by, Field.by),
            left: left,
            from: [],
            on: try scanner.required(channel, Field.channel),
            trace: trace.trace
        )
        (self.devices, self.isTold, self.dismissalDate) = (devices, isTold, dismissalDate)
    }

    package func writeJSON(to out: inout [UInt8]) {
        var object = JSONObjectWriter()
        object.member(Field.showing, showing, &out)
        object.member(Field.by, by, &out)
        object.member(Field.left, left, &out)
        object.member(Field.channel, channel.rawValue, &out)
        object.member(Field.devices, devices, &out)
        if isTold { object.member(Field.told, true, &out) }
        object.member(Field.dismissalDate, dismissalDate, &out)
        trace.write(&object, &out)
        object.end(&out)
    }
}

extension OpenRemoval.Device: JSONWritable {
    private enum Field: FieldName {
        case device, outcome, reason
    }

    init(_ scanner: inout JSONScanner) throws(ModelError) {
        var (name, outcome, reason): (String?, RemovalOutcome?, ReasonCode?)
        try scanner.object(of: Field.self, from: .state) { scanner, field throws(ModelError) in
            switch field {
            case .device: name = scanner.materialise(try scanner.string())
            case .outcome: outcome = try scanner.choice(RemovalOutcome.self)
            case .reason: reason = try scanner.choice(ReasonCode.self)
            }
        }
        self.init(try scanner.required(name, Field.device))
        (self.outcome, self.reason) = (outcome, reason)
    }

    package func writeJSON(to out: inout [UInt8]) {
        var object = JSONObjectWriter()
        object.member(Field.device, name, &out)
        object.member(Field.outcome, outcome?.rawValue, &out)
        object.member(Field.reason, reason?.rawValue, &out)
        object.end(&out)
    }
}
