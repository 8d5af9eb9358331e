extension RecipientRecord {
    /// A device that was registered for the recipient.
    public struct RegisteredDevice: Sendable, Hashable {
        /// Its name: the last component of its key.
        public var name: String
        /// As it was registered last; `registeredAt` is always set.
        public var registration: DeviceRegistration
        /// The badge that the app's icon shows, as far as it is known.
        public var badge: Int64?
        /// When its app was last said to have come to the foreground, or to have left it.
        public var stateAt: Timestamp?
        /// Whether it was said to be in the foreground.
        public var isForeground = false
        /// When its token was found to be gone. It is kept for a while, so that an older registration cannot bring it back.
        public var retiredAt: Timestamp?

        /// A device.
        public init(name: String, registration: DeviceRegistration) {
            (self.name, self.registration) = (name, registration)
        }

        /// Whether notifications may be sent to it.
        public var isActive: Bool { retiredAt == nil }

        /// Whether its app counts as being in the foreground. An app that ended without saying so must not count for ever.
        ///
        /// - Parameters:
        ///   - now: the current time.
        ///   - kept: how long it counts after the app said so, in milliseconds.
        public func isInForeground(at now: Timestamp, kept: Int64) -> Bool {
            isForeground && (stateAt.map { now.rawValue - $0.rawValue <= kept } ?? false)
        }

        /// When it was registered last.
        public var registeredAt: Timestamp { registration.registeredAt ?? Timestamp(rawValue: 0) }

        /// Whether a retirement names its token: as it is, or as `sha256:` and its hash.
        func has(_ token: String, in application: String) -> Bool {
            guard token.hasPrefix(RecipientRecord.hashPrefix) else {
                return registration.token.hasSameUTF8(as: token)
            }
            let hash = registration.tokenHash(application: application)
            return (RecipientRecord.hashPrefix + hash).hasSameUTF8(as: token)
        }
    }

    /// Before the hash of a token, where a retirement must not carry the token itself.
    public static let hashPrefix = "sha256:"

    /// What a registration changed.
    public enum Registering: Sendable, Hashable {
        /// It is older than what is known of the device.
        case late
        /// Only its time.
        case refreshed
        /// The device is new, or something that matters has changed.
        ///
        /// - Parameters:
        ///   - former: the registration whose token the device has no more.
        ///   - dropped: the devices that had to make room, or had the same token under another name.
        case changed(former: DeviceRegistration?, dropped: [RegisteredDevice])
    }

    /// Applies a registration.
    ///
    /// - Parameters:
    ///   - name: of the device.
    ///   - registration: with its time.
    ///   - maximum: how many active devices the recipient may have; beyond it, those registered longest ago are dropped.
    ///   - bytes: how many the whole record may have; beyond it, devices are dropped as well, but not this one.
    public mutating func register(
        _ name: String,
        _ registration: DeviceRegistration,
        atMost maximum: Int,
        bytes: Int = .max
    ) -> Registering {
        let at = registration.registeredAt ?? Timestamp(rawValue: 0)
        guard let known = registrations.firstIndex(where: { $0.name.hasSameUTF8(as: name) }) else {
            registrations.append(RegisteredDevice(name: name, registration: registration))
            return .changed(former: nil, dropped: makeRoom(for: name, atMost: maximum, bytes))
        }
        let former = registrations[known]
        guard at >= former.retiredAt ?? former.registeredAt else { return .late }
        registrations[known].registration = registration
        registrations[known].retiredAt = nil
        guard former.isActive else {
            registrations[known].badge = nil
            return .changed(former: nil, dropped: makeRoom(for: name, atMost: maximum, bytes))
        }
        var same = former.registration
        same.registeredAt = registration.registeredAt
        guard same != registration else { return .refreshed }
        let hasMoved = !former.registration.token.hasSameUTF8(as: registration.token)
        return .changed(
            former: hasMoved ? former.registration : nil,
            dropped: makeRoom(for: name, atMost: maximum, bytes)
        )
    }

    /// A token belongs to one device: another one of the recipient with the same token is an earlier installation.
    private mutating func makeRoom(for name: String, atMost maximum: Int, _ bytes: Int) -> [RegisteredDevice] {
        guard let new = registrations.first(where: { $0.name.hasSameUTF8(as: name) }) else { return [] }
        var dropped: [RegisteredDevice] = []
        registrations.removeAll { device in
            guard device.isActive, !device.name.hasSameUTF8(as: name),
                device.registration.token.hasSameUTF8(as: new.registration.token),
                device.registration.platform.hasSameUTF8(as: new.registration.platform)
            else { return false }
            dropped.append(device)
            return true
        }
        var size = self.bytes
        while registrations.count > maximum || size > bytes, let index = leastNeeded(except: name) {
            let device = registrations.remove(at: index)
            size -= device.bytes
            if device.isActive { dropped.append(device) }
        }
        return dropped
    }

    /// Retired devices first, then the one that was registered longest ago.
    private func leastNeeded(except name: String) -> Int? {
        registrations.indices.filter { !registrations[$0].name.hasSameUTF8(as: name) }.min { one, other in
            let (one, other) = (registrations[one], registrations[other])
            guard one.isActive == other.isActive else { return !one.isActive }
            return one.registeredAt < other.registeredAt
        }
    }

    /// Retires a device whose token is gone, unless it was registered since.
    ///
    /// - Parameters:
    ///   - name: of the device.
    ///   - token: nil when the retirement names none; another token than the device's retires nothing.
    ///   - gone: a registration at this time or later is newer.
    ///   - application: of the recipient.
    /// - Returns: the device as it was; nil when nothing changed.
    public mutating func retire(
        _ name: String,
        token: String?,
        gone: Timestamp,
        in application: String
    ) -> RegisteredDevice? {
        guard let index = registrations.firstIndex(where: { $0.name.hasSameUTF8(as: name) }) else { return nil }
        let device = registrations[index]
        guard device.isActive, device.registeredAt < gone, token.map({ device.has($0, in: application) }) ?? true else {
            return nil
        }
        registrations[index].retiredAt = gone
        (registrations[index].isForeground, registrations[index].badge) = (false, nil)
        return device
    }

    /// Ends the registration of a device: whatever came before it in the log is older, also by a clock that is ahead.
    ///
    /// - Parameters:
    ///   - name: of the device.
    ///   - at: when it was written.
    /// - Returns: the device as it was; nil when nothing changed.
    public mutating func unregister(_ name: String, at: Timestamp) -> RegisteredDevice? {
        guard let index = registrations.firstIndex(where: { $0.name.hasSameUTF8(as: name) }),
            registrations[index].isActive
        else { return nil }
        let device = registrations[index]
        registrations[index].retiredAt = at
        (registrations[index].isForeground, registrations[index].badge) = (false, nil)
        return device
    }

    /// Applies what a device says of its app.
    ///
    /// - Parameters:
    ///   - state: of the app, and the badge if it tells it.
    ///   - at: when: an older state than the last one changes nothing.
    /// - Returns: whether it is newer than what is known.
    public mutating func note(_ state: AppStateSignal, at: Timestamp) -> Bool {
        guard let index = registrations.firstIndex(where: { $0.name.hasSameUTF8(as: state.device) }),
            registrations[index].isActive, registrations[index].stateAt.map({ at > $0 }) ?? true
        else { return false }
        registrations[index].stateAt = at
        registrations[index].isForeground = state.state == .foreground
        if let badge = state.badge { registrations[index].badge = badge }
        return true
    }

    /// Whether notifications may be sent to any of the devices.
    @inlinable public var hasActiveDevice: Bool {
        for index in registrations.indices where registrations[index].retiredAt == nil { return true }
        return false
    }

    /// The device whose time zone and locale count for the recipient: the active one that was registered last.
    public var leadingDevice: RegisteredDevice? {
        var leading: Int?
        for index in registrations.indices where registrations[index].isActive {
            if let found = leading, registrations[found].registeredAt > registrations[index].registeredAt { continue }
            leading = index
        }
        return leading.map { registrations[$0] }
    }
}

extension RecipientRecord.RegisteredDevice: StatePart, JSONWritable {
    private enum Field: FieldName {
        case device, registration, badge, stateAt, foreground, retiredAt
    }

    var form: Int { StateForm.devices }

    init(_ scanner: inout JSONScanner) throws(ModelError) {
        var (name, registration): (String?, DeviceRegistration?)
        var (badge, stateAt, retiredAt): (Int64?, Timestamp?, Timestamp?)
        var isForeground = false
        try scanner.object { scanner, field throws(ModelError) in
            switch try scanner.field(field, of: Field.self) {
            case .device: name = scanner.materialise(try scanner.string())
            case .registration: registration = try DeviceRegistration(&scanner)
            case .badge: badge = try scanner.integer(in: 0...Int64.max)
            case .stateAt: stateAt = try scanner.timestamp()
            case .foreground: isForeground = try scanner.boolean()
            case .retiredAt: retiredAt = try scanner.timestamp()
            case nil: try scanner.skipValue()
            }
        }
        self.init(
            name: try scanner.required(name, Field.device),
            registration: try scanner.required(registration, Field.registration)
        )
        (self.badge, self.stateAt, self.isForeground, self.retiredAt) = (badge, stateAt, isForeground, retiredAt)
    }

    func writeJSON(to out: inout [UInt8]) {
        var object = JSONObjectWriter()
        object.member(Field.device, name, &out)
        object.member(Field.badge, badge, &out)
        object.member(Field.stateAt, stateAt, &out)
        if isForeground { object.member(Field.foreground, true, &out) }
        object.member(Field.retiredAt, retiredAt, &out)
        object.begin(Field.registration, &out)
        registration.writeJSON(to: &out)
        object.end(&out)
    }
}
