package import NotificationModel

extension RecipientRecord {
    /// A region that a pending notification waits for.
    package struct WaitingRegion: Sendable, Hashable {
        /// The identifier of the notification.
        package var identifier: String
        /// The request. When the entry waits for another one, or for nothing, the region is stale.
        package var requestID: RequestID
        /// The region, and the directions that count.
        package var trigger: LocationTrigger
        /// For each of the record's devices, the side on which it is; nil before the first certain fix.
        public internal(set) var sides: [RegionSide?]

        /// A region for which no device has a side.
        package init(identifier: String, requestID: RequestID, trigger: LocationTrigger) {
            (self.identifier, self.requestID, self.trigger, sides) = (identifier, requestID, trigger, [])
        }

        /// As many sides as devices.
        mutating func fit(devices count: Int) {
            sides = Array(sides.prefix(count))
            while sides.count < count { sides.append(nil) }
        }
    }

    /// A device whose fixes were applied.
    package struct LocatedDevice: Sendable, Hashable {
        /// Its name.
        package var device: String
        /// The time of its last fix: one that is not later is ignored.
        package var at: Timestamp

        /// A device.
        package init(device: String, at: Timestamp) { (self.device, self.at) = (device, at) }
    }

    /// A boundary that a fix showed to be crossed, in a direction that counts.
    package struct Crossing: Sendable, Hashable {
        /// The notification that waits for it.
        package var identifier: String
        /// Its request.
        package var requestID: RequestID
    }

    /// Applies a fix to all regions, in their order.
    ///
    /// The first side of a device is no crossing: nobody knows where it was before.
    ///
    /// - Returns: the crossings; nil when the fix is not later than the last one of its device, and changes nothing.
    package mutating func locate(_ fix: LocationFix) -> [Crossing]? {
        guard let device = note(fix) else { return nil }
        var crossings: [Crossing] = []
        for index in regions.indices {
            guard let side = regions[index].trigger.region.side(of: fix), side != regions[index].sides[device] else {
                continue
            }
            let isFirst = regions[index].sides[device] == nil
            regions[index].sides[device] = side
            let trigger = regions[index].trigger
            guard !isFirst, side == .inside ? trigger.notifyOnEntry : trigger.notifyOnExit else { continue }
            crossings.append(Crossing(identifier: regions[index].identifier, requestID: regions[index].requestID))
        }
        return crossings
    }

    /// Notes the time of a fix.
    ///
    /// - Returns: the index of its device; nil when the fix is late.
    private mutating func note(_ fix: LocationFix) -> Int? {
        if let known = devices.firstIndex(where: { $0.device.hasSameUTF8(as: fix.device) }) {
            guard fix.at > devices[known].at else { return nil }
            devices[known].at = fix.at
            return known
        }
        if devices.count >= ModelLimits.locatedDevices,
            let oldest = devices.indices.min(by: { devices[$0].at < devices[$1].at })
        {
            devices.remove(at: oldest)
            for index in regions.indices { regions[index].sides.remove(at: oldest) }
        }
        devices.append(LocatedDevice(device: fix.device, at: fix.at))
        for index in regions.indices { regions[index].sides.append(nil) }
        return devices.count - 1
    }

    /// Notes that a notification waits for a region. One that waited already keeps its sides.
    ///
    /// - Returns: whether this changed anything.
    package mutating func wait(for trigger: LocationTrigger, _ identifier: String, _ requestID: RequestID) -> Bool {
        var region = WaitingRegion(identifier: identifier, requestID: requestID, trigger: trigger)
        region.fit(devices: devices.count)
        guard let known = regions.firstIndex(where: { $0.identifier.hasSameUTF8(as: identifier) }) else {
            regions.append(region)
            return true
        }
        guard regions[known].requestID != requestID else { return false }
        regions[known] = region
        return true
    }

    /// Forgets the region of a notification.
    ///
    /// - Returns: whether there was one.
    package mutating func forgetRegion(of identifier: String) -> Bool {
        let count = regions.count
        regions.removeAll { $0.identifier.hasSameUTF8(as: identifier) }
        return regions.count < count
    }
}

extension RecipientRecord.WaitingRegion: StatePart, JSONWritable {
    private enum Field: FieldName {
        case identifier, requestId, trigger, sides
    }

    var form: Int { StateForm.location }

    init(_ scanner: inout JSONScanner) throws(ModelError) {
        var (identifier, requestID, trigger): (String?, RequestID?, LocationTrigger?)
        var sides: [RegionSide?] = []
        try scanner.object(of: Field.self, from: .state) { scanner, field throws(ModelError) in
            switch field {
            case .identifier: identifier = scanner.materialise(try scanner.string())
            case .requestId: requestID = try scanner.requestID()
            case .trigger:
                guard case .location(let read) = try scanner.trigger(.state) else {
                    throw scanner.value("must be a location trigger")
                }
                trigger = read
            case .sides:
                let text = try scanner.string()
                sides = try scanner.withBytes(text) { bytes throws(ModelError) in bytes.map(RegionSide.init(letter:)) }
            }
        }
        self.init(
            identifier: try scanner.required(identifier, Field.identifier),
            requestID: try scanner.required(requestID, Field.requestId),
            trigger: try scanner.required(trigger, Field.trigger)
        )
        self.sides = sides
    }

    /// The sides are a letter for each device: `i`, `o`, or `-` where it has none yet.
    package func writeJSON(to out: inout [UInt8]) {
        var object = JSONObjectWriter()
        object.member(Field.identifier, identifier, &out)
        object.member(Field.requestId, requestID, &out)
        object.begin(Field.trigger, &out)
        NotificationTrigger.location(trigger).write(to: &out)
        if !sides.isEmpty {
            object.begin(Field.sides, &out)
            out.append(0x22)
            for side in sides { out.append(side?.letter ?? 0x2D) }
            out.append(0x22)
        }
        object.end(&out)
    }
}

extension RegionSide {
    fileprivate init?(letter: UInt8) {
        switch letter {
        case 0x69: self = .inside
        case 0x6F: self = .outside
        default: return nil
        }
    }

    fileprivate var letter: UInt8 { self == .inside ? 0x69 : 0x6F }
}

extension RecipientRecord.LocatedDevice: StatePart, JSONWritable {
    private enum Field: FieldName {
        case device, at
    }

    var form: Int { StateForm.location }

    init(_ scanner: inout JSONScanner) throws(ModelError) {
        var (device, at): (String?, Timestamp?)
        try scanner.object(of: Field.self, from: .state) { scanner, field throws(ModelError) in
            switch field {
            case .device: device = scanner.materialise(try scanner.string())
            case .at: at = try scanner.timestamp()
            }
        }
        self.init(
            device: try scanner.required(device, Field.device),
            at: try scanner.required(at, Field.at)
        )
    }

    package func writeJSON(to out: inout [UInt8]) {
        var object = JSONObjectWriter()
        object.member(Field.device, device, &out)
        object.member(Field.at, at, &out)
        object.end(&out)
    }
}
