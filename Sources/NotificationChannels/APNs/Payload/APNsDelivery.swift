package import NotificationDelivery
package import NotificationModel

/// What one device is given of a notification.
package struct APNsDelivery: Hashable, Sendable {
    /// Which notification it is: the member `carillon` of the payload, for the app's answers.
    package struct Origin: Hashable, Sendable {
        package var key: NotificationKey
        package var requestID: RequestID
        /// The nominal instant of its trigger.
        package var occurrence: Timestamp?
        /// Where the operation stands among those of the key.
        package var sequence: OperationSequence
        /// The device's name.
        package var device: String

        package init(
            key: NotificationKey,
            requestID: RequestID,
            occurrence: Timestamp? = nil,
            sequence: OperationSequence,
            device: String
        ) {
            (self.key, self.requestID, self.occurrence) = (key, requestID, occurrence)
            (self.sequence, self.device) = (sequence, device)
        }
    }

    /// The id of the operation, equal for each of its attempts; nil lets APNs choose.
    package var id: UUIDValue?
    /// Nil for what replaces nothing.
    package var collapseID: String?
    /// A content object as in requests, validated.
    package var content: ArraySlice<UInt8>
    /// What of it the device shows and plays.
    package var presentation: PresentationOptions
    /// The number for the icon; it counts only when `presentation` has `badge`.
    package var badge: Int64?
    /// In the place of the content's.
    package var interruptionLevel: InterruptionLevel?
    /// From this instant on it must not be delivered.
    package var expiration: Timestamp?
    /// Nil for a push that is no notification of Carillon.
    package var origin: Origin?

    package init(
        id: UUIDValue? = nil,
        collapseID: String? = nil,
        content: ArraySlice<UInt8>,
        presentation: PresentationOptions = [.banner, .list, .sound, .badge],
        badge: Int64? = nil,
        interruptionLevel: InterruptionLevel? = nil,
        expiration: Timestamp? = nil,
        origin: Origin? = nil
    ) {
        (self.id, self.collapseID, self.content) = (id, collapseID, content)
        (self.presentation, self.badge, self.interruptionLevel) = (presentation, badge, interruptionLevel)
        (self.expiration, self.origin) = (expiration, origin)
    }

    /// - Parameters:
    ///   - send: the attempt at an operation.
    ///   - content: of the send.
    ///   - device: one of the send's.
    package init(_ send: ChannelSend, content: ArraySlice<UInt8>, to device: APNsDevice) {
        self.init(
            id: send.id,
            collapseID: CollapseID(send.key).text,
            content: content,
            // The list of devices leaves them out already; a send that is quiet must be so in any case.
            presentation: send.isQuiet ? device.presentation.subtracting([.banner, .sound]) : device.presentation,
            badge: device.badge,
            interruptionLevel: device.interruptionLevel,
            expiration: send.expiration,
            origin: Origin(
                key: send.key,
                requestID: send.requestID,
                occurrence: send.occurrence,
                sequence: send.sequence,
                device: device.name
            )
        )
    }
}

/// A device as the list of a send has it: `{"device":"iphone-1","platform":"apns","token":"…",…}`.
package struct APNsDevice: Hashable, Sendable {
    package var name: String
    /// Lower-case hexadecimal.
    package var token: String
    package var environment: DeviceRegistration.Environment?
    package var bundleIdentifier: String?
    /// What of a notification it shows and plays; nothing for a removal.
    package var presentation: PresentationOptions
    package var badge: Int64?
    package var interruptionLevel: InterruptionLevel?

    private enum Field: FieldName {
        case device, token, environment, bundleIdentifier, presentation, badge, interruptionLevel
    }

    /// Reads a JSON array of devices; those without a token, for which there is no way, are left out.
    ///
    /// Throws `invalid` for anything else.
    package static func list(_ json: ArraySlice<UInt8>) throws(ModelError) -> [APNsDevice] {
        var devices: [APNsDevice] = []
        try json.borrowed { bytes throws(ModelError) in
            var scanner = JSONScanner(bytes)
            try scanner.whole { scanner throws(ModelError) in
                try scanner.array { scanner, _ throws(ModelError) in
                    if let device = try APNsDevice(&scanner) { devices.append(device) }
                }
            }
        }
        return devices
    }

    private init?(_ scanner: inout JSONScanner) throws(ModelError) {
        var (name, token): (String?, String?)
        (presentation, badge, interruptionLevel) = ([], nil, nil)
        (environment, bundleIdentifier) = (nil, nil)
        var (options, number): (PresentationOptions?, Int64?)
        var level: InterruptionLevel?
        var (found, bundle): (DeviceRegistration.Environment?, String?)
        try scanner.object { scanner, member throws(ModelError) in
            switch try scanner.field(member, of: Field.self) {
            case .device: try scanner.once(&name, scanner.materialise(scanner.string()))
            case .token: try scanner.once(&token, scanner.materialise(scanner.string()))
            case .environment: try scanner.once(&found, scanner.choice(DeviceRegistration.Environment.self))
            case .bundleIdentifier: try scanner.once(&bundle, scanner.materialise(scanner.string()))
            case .presentation: try scanner.once(&options, scanner.options(PresentationOptions.self))
            case .badge: try scanner.once(&number, scanner.integer(in: 0...ModelLimits.badge))
            case .interruptionLevel: try scanner.once(&level, scanner.choice(InterruptionLevel.self))
            case nil: try scanner.skipValue()
            }
        }
        guard let token else { return nil }
        (self.name, self.token) = (try scanner.required(name, Field.device), token)
        (environment, bundleIdentifier, badge, interruptionLevel) = (found, bundle, number, level)
        presentation = options ?? []
    }
}
