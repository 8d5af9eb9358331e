package import NotificationModel

extension RecipientRecord {
    /// A device that was registered for the recipient.
    package struct RegisteredDevice: Sendable, Hashable {
        /// Its name: the last component of its key.
        package var name: String
        /// As it was registered last; `registeredAt` is always set.
        package var registration: DeviceRegistration
        /// When its last record was written to `devices`: later than that of every record of the recipient before it. It orders
        /// the devices, and the owners of a token; the clock of a phone does not.
        package var writtenAt: Timestamp
        /// The badge that the app's icon shows, as far as it is known.
        package var badge: Int64?
        /// When its app was last said to have come to the foreground, or to have left it.
        package var stateAt: Timestamp?
        /// Whether it was said to be in the foreground.
        package var isForeground = false
        /// When its end was applied. It is kept for a while: its recipient counts as one whose devices are known, and what an owner
        /// before may have sent to it is removed.
        package var retiredAt: Timestamp?

        /// A device.
        package init(name: String, registration: DeviceRegistration, writtenAt: Timestamp) {
            (self.name, self.registration, self.writtenAt) = (name, registration, writtenAt)
        }

        /// Whether it is registered still.
        package var isActive: Bool { retiredAt == nil }

        /// Whether notifications may be sent to it: a token of another kind takes none.
        package var takesNotifications: Bool { isActive && registration.kind == .device }

        /// Whether its app counts as being in the foreground. An app that ended without saying so must not count for ever.
        ///
        /// - Parameters:
        ///   - now: the current time.
        ///   - kept: how long it counts after the app said so, in milliseconds.
        package func isInForeground(at now: Timestamp, kept: Int64) -> Bool {
            isForeground && (stateAt.map { now.rawValue - $0.rawValue <= kept } ?? false)
        }

        /// When it was registered last, by the clock of its app.
        package var registeredAt: Timestamp { registration.registeredAt ?? Timestamp(rawValue: 0) }

        mutating func retire(at now: Timestamp) {
            (retiredAt, isForeground, badge) = (now, false, nil)
        }

        /// Whether a registration has its token.
        package func sharesToken(with other: DeviceRegistration) -> Bool {
            registration.token.hasSameUTF8(as: other.token) && registration.platform.hasSameUTF8(as: other.platform)
        }

        /// Whether a retirement names its token: as it is, or as `sha256:` and its hash.
        func has(_ token: String, in application: String) -> Bool {
            guard token.hasPrefix(RecipientRecord.hashPrefix) else { return registration.hasToken(token) }
            let hash = registration.tokenHash(application: application)
            return (RecipientRecord.hashPrefix + hash).hasSameUTF8(as: token)
        }
    }

    /// Before the hash of a token, where a retirement must not carry the token itself: another recipient has the token now.
    package static let hashPrefix = "sha256:"

    /// What a registration changed.
    package enum Registering: Sendable, Hashable {
        /// Only its times.
        case refreshed
        /// The device is new, or something that matters has changed.
        ///
        /// - Parameters:
        ///   - former: the registration whose token the device has no more.
        ///   - dropped: the devices that had to make room, or had the same token under another name; as they were.
        case changed(former: DeviceRegistration?, dropped: [RegisteredDevice])
    }

    /// When a record of `devices` counts as written: records of one millisecond, and of hosts with different clocks, keep the
    /// order of the log.
    ///
    /// - Parameter timestamp: of the record.
    package func writtenAt(_ timestamp: Timestamp) -> Timestamp {
        registrations.reduce(timestamp) { max($0, $1.writtenAt.adding(milliseconds: 1)) }
    }

    /// Applies a registration: it replaces what was registered before it in the log.
    ///
    /// - Parameters:
    ///   - name: of the device.
    ///   - registration: with its time.
    ///   - writtenAt: as ``writtenAt(_:)`` says.
    ///   - now: when it is applied.
    ///   - maximum: how many active devices the recipient may have; beyond it, those registered longest ago are retired. As many
    ///     retired ones are kept.
    ///   - bytes: how many ``sharedBytes`` there may be; beyond it, devices are retired as well, but not this one.
    ///   - retiredBytes: how many of these there may be.
    package mutating func register(
        _ name: String,
        _ registration: DeviceRegistration,
        writtenAt: Timestamp,
        at now: Timestamp,
        atMost maximum: Int,
        bytes: Int = .max,
        retiredBytes: Int = .max
    ) -> Registering {
        func makeRoom() -> [RegisteredDevice] {
            defer { forgetRetired(atMost: maximum, retiredBytes) }
            return self.makeRoom(for: name, atMost: maximum, bytes, at: now)
        }
        guard let known = place(of: name) else {
            registrations.append(RegisteredDevice(name: name, registration: registration, writtenAt: writtenAt))
            return .changed(former: nil, dropped: makeRoom())
        }
        let former = registrations[known]
        (registrations[known].registration, registrations[known].writtenAt) = (registration, writtenAt)
        registrations[known].retiredAt = nil
        guard former.isActive else {
            registrations[known].badge = nil
            return .changed(former: nil, dropped: makeRoom())
        }
        var same = former.registration
        same.registeredAt = registration.registeredAt
        guard same != registration else { return .refreshed }
        return .changed(
            former: former.sharesToken(with: registration) ? nil : former.registration,
            dropped: makeRoom()
        )
    }

    /// A token belongs to one device: another one of the recipient with the same token is an earlier installation. What makes room is
    /// kept as retired: nobody else knows the device when a request follows that an owner before may have sent to it.
    private mutating func makeRoom(
        for name: String,
        atMost maximum: Int,
        _ bytes: Int,
        at now: Timestamp
    ) -> [RegisteredDevice] {
        guard let new = registration(of: name) else { return [] }
        var dropped: [RegisteredDevice] = []
        registrations.removeAll { device in
            guard device.isActive, !device.name.hasSameUTF8(as: name), device.sharesToken(with: new)
            else { return false }
            dropped.append(device)
            return true
        }
        var (active, size) = (registrations.count(where: \.isActive), sharedBytes)
        while active > maximum || size > bytes, let index = leastNeeded(except: name) {
            let device = registrations[index]
            (active, size) = (active - 1, size - device.bytes)
            dropped.append(device)
            if device.registration.kind == .device {
                registrations[index].retire(at: now)
            } else {
                registrations.remove(at: index)
            }
        }
        return dropped
    }

    /// Tokens of single Live Activities first, then the active device that was registered longest ago.
    private func leastNeeded(except name: String) -> Int? {
        registrations.indices.filter { registrations[$0].isActive && !registrations[$0].name.hasSameUTF8(as: name) }
            .min { one, other in
                let (one, other) = (registrations[one], registrations[other])
                let isOfActivity = one.registration.kind == .liveActivity
                guard isOfActivity == (other.registration.kind == .liveActivity) else { return isOfActivity }
                return one.writtenAt < other.writtenAt
            }
    }

    /// Forgets the devices that were retired longest ago.
    private mutating func forgetRetired(atMost maximum: Int, _ bytes: Int) {
        var (count, size) = (registrations.count { !$0.isActive }, retiredBytes)
        while count > maximum || size > bytes,
            let index = registrations.indices.filter({ !registrations[$0].isActive }).min(by: {
                registrations[$0].retiredAt ?? .latest < registrations[$1].retiredAt ?? .latest
            })
        {
            (count, size) = (count - 1, size - registrations.remove(at: index).bytes)
        }
    }

    /// Retires a device whose token is gone, unless it was registered since.
    ///
    /// - Parameters:
    ///   - name: of the device.
    ///   - token: nil when the retirement names none; another token than the device's retires nothing.
    ///   - gone: a registration at this time or later is newer: by the clock of the app, and of a token that another recipient
    ///     has now by the log.
    ///   - application: of the recipient.
    ///   - now: when it is applied.
    /// - Returns: the device as it was; nil when nothing changed.
    package mutating func retire(
        _ name: String,
        token: String?,
        gone: Timestamp,
        in application: String,
        at now: Timestamp
    ) -> RegisteredDevice? {
        guard let index = place(of: name) else { return nil }
        let device = registrations[index]
        let hasMoved = token?.hasPrefix(Self.hashPrefix) ?? false
        guard device.isActive, (hasMoved ? device.writtenAt : device.registeredAt) < gone,
            token.map({ device.has($0, in: application) }) ?? true
        else { return nil }
        registrations[index].retire(at: now)
        return device
    }

    /// Ends the registration of a device.
    ///
    /// - Parameters:
    ///   - name: of the device.
    ///   - writtenAt: as ``writtenAt(_:)`` says.
    ///   - now: when it is applied.
    /// - Returns: the device as it was; nil when nothing changed.
    package mutating func unregister(_ name: String, writtenAt: Timestamp, at now: Timestamp) -> RegisteredDevice? {
        guard let index = place(of: name), registrations[index].isActive else { return nil }
        let device = registrations[index]
        registrations[index].writtenAt = writtenAt
        registrations[index].retire(at: now)
        return device
    }

    /// Applies what a device says of its app.
    ///
    /// - Parameters:
    ///   - state: of the app, and the badge if it tells it.
    ///   - at: when: an older state than the last one changes nothing.
    /// - Returns: whether it is newer than what is known.
    package mutating func note(_ state: AppStateSignal, at: Timestamp) -> Bool {
        guard let index = place(of: state.device),
            registrations[index].isActive, registrations[index].stateAt.map({ at > $0 }) ?? true
        else { return false }
        registrations[index].stateAt = at
        registrations[index].isForeground = state.state == .foreground
        if let badge = state.badge { registrations[index].badge = badge }
        return true
    }

    /// Whether any device is registered.
    package var hasActiveDevice: Bool {
        for index in registrations.indices where registrations[index].retiredAt == nil { return true }
        return false
    }

    /// Where a device is among the ``registrations``, also after its end while it is kept.
    package func place(of name: String) -> Int? {
        // In place: a device has many texts.
        for place in registrations.indices where registrations[place].name.hasSameUTF8(as: name) { return place }
        return nil
    }

    /// The registration of a device, also after its end while it is kept.
    package func registration(of name: String) -> DeviceRegistration? {
        place(of: name).map { registrations[$0].registration }
    }

    /// Whether devices that take notifications are known, or were until a while ago.
    package var knowsDevices: Bool {
        for index in registrations.indices where registrations[index].registration.kind == .device { return true }
        return false
    }

    /// Whether a device of this name may show notifications, or Live Activities.
    package func permitsNotifications(on name: String) -> Bool {
        registrations.contains {
            ($0.takesNotifications || $0.takesActivities)
                && $0.registration.authorizationStatus.permitsNotifications && $0.target.hasSameUTF8(as: name)
        }
    }

    /// Whether a device of this name is registered.
    package func hasActiveDevice(_ name: String) -> Bool {
        place(of: name).map { registrations[$0].isActive } ?? false
    }

    /// The time zone of the recipient: that of the active device registered last among those that have one.
    package var timeZone: String? {
        var last: Int?
        for index in registrations.indices
        where registrations[index].isActive && registrations[index].registration.timeZone != nil {
            if let found = last, registrations[found].writtenAt > registrations[index].writtenAt { continue }
            last = index
        }
        return last.flatMap { registrations[$0].registration.timeZone }
    }
}

extension RecipientRecord.RegisteredDevice: StatePart, JSONWritable {
    private enum Field: FieldName {
        case device, registration, writtenAt, badge, stateAt, foreground, retiredAt
    }

    var form: Int {
        switch registration.kind {
        case .device: StateForm.devices
        case .broadcastChannel, .liveActivityStart: StateForm.liveActivities
        default: registration.liveActivity == nil ? StateForm.tokenKinds : StateForm.liveActivities
        }
    }

    init(_ scanner: inout JSONScanner) throws(ModelError) {
        var (name, registration): (String?, DeviceRegistration?)
        var (badge, writtenAt, stateAt, retiredAt): (Int64?, Timestamp?, Timestamp?, Timestamp?)
        var isForeground = false
        try scanner.object(of: Field.self, from: .state) { scanner, field throws(ModelError) in
            switch field {
            case .device: name = scanner.materialise(try scanner.string())
            case .registration: registration = try DeviceRegistration(&scanner)
            case .writtenAt: writtenAt = try scanner.timestamp()
            case .badge: badge = try scanner.integer(in: 0...Int64.max)
            case .stateAt: stateAt = try scanner.timestamp()
            case .foreground: isForeground = try scanner.boolean()
            case .retiredAt: retiredAt = try scanner.timestamp()
            }
        }
        self.init(
            name: try scanner.required(name, Field.device),
            registration: try scanner.required(registration, Field.registration),
            writtenAt: try scanner.required(writtenAt, Field.writtenAt)
        )
        (self.badge, self.stateAt, self.isForeground, self.retiredAt) = (badge, stateAt, isForeground, retiredAt)
    }

    package func writeJSON(to out: inout [UInt8]) {
        var object = JSONObjectWriter()
        object.member(Field.device, name, &out)
        object.member(Field.writtenAt, writtenAt, &out)
        object.member(Field.badge, badge, &out)
        object.member(Field.stateAt, stateAt, &out)
        if isForeground { object.member(Field.foreground, true, &out) }
        object.member(Field.retiredAt, retiredAt, &out)
        object.begin(Field.registration, &out)
        registration.writeJSON(to: &out)
        object.end(&out)
    }
}
