package import NotificationDelivery
package import NotificationModel

/// What one device is given of a notification.
package struct DeviceDelivery: Hashable, Sendable {
    /// Which notification it is: the member `carillon` of what is sent, for the app's answers.
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

        /// - Parameters:
        ///   - send: the attempt at an operation.
        ///   - device: the device's name.
        @inline(__always)
        init(of send: ChannelSend, on device: String) {
            (key, requestID, occurrence) = (send.key, send.requestID, send.occurrence)
            (sequence, self.device) = (send.sequence, device)
        }

        /// The members of `carillon`.
        func write(to object: inout JSONObjectWriter, _ out: inout [UInt8]) {
            object.member("application", key.application, &out)
            object.member("identifier", key.identifier, &out)
            object.member("requestId", requestID, &out)
            object.member("occurrence", occurrence, &out)
            object.member("device", device, &out)
            object.member("sequence", sequence, &out)
        }
    }

    /// The id of the operation, equal for each of its attempts; nil lets the service choose.
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
    /// Which of the content's variants it shows, as the content spells the locale; nil for the texts of the content itself.
    package var localization: String?
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
        localization: String? = nil,
        expiration: Timestamp? = nil,
        origin: Origin? = nil
    ) {
        (self.id, self.collapseID, self.content) = (id, collapseID, content)
        (self.presentation, self.badge, self.interruptionLevel) = (presentation, badge, interruptionLevel)
        (self.localization, self.expiration, self.origin) = (localization, expiration, origin)
    }

    /// - Parameters:
    ///   - send: the attempt at an operation.
    ///   - content: of the send.
    ///   - device: one of the send's.
    @inline(__always)
    package init(_ send: ChannelSend, content: ArraySlice<UInt8>, to device: PresentedDevice) {
        self.init(
            id: send.id,
            collapseID: CollapseID(send.key).text,
            content: content,
            // The list of devices leaves them out already; a send that is quiet must be so in any case.
            presentation: send.isQuiet ? device.presentation.subtracting([.banner, .sound]) : device.presentation,
            badge: device.badge,
            interruptionLevel: device.interruptionLevel,
            localization: device.localization,
            expiration: send.expiration,
            origin: Origin(of: send, on: device.name)
        )
    }
}

/// What a device shows and plays of a notification, as the list of a send says:
/// `{"device":"iphone-1","presentation":["banner","list"],"badge":3,…}`. How it is reached is in its registration.
package struct PresentedDevice: Hashable, Sendable {
    package var name: String
    /// Nothing for a removal.
    package var presentation: PresentationOptions = []
    package var badge: Int64?
    package var interruptionLevel: InterruptionLevel?
    package var localization: String?

    private enum Field: FieldName {
        case device, presentation, badge, interruptionLevel, localization
    }

    package init(name: String) { self.name = name }

    /// Reads the first device of a JSON array. Throws `invalid` for anything else.
    package init(list json: ArraySlice<UInt8>) throws(ModelError) {
        var first: PresentedDevice?
        try json.borrowed { bytes throws(ModelError) in
            var scanner = JSONScanner(bytes)
            try scanner.whole { scanner throws(ModelError) in
                try scanner.array { scanner, _ throws(ModelError) in
                    let device = try PresentedDevice(&scanner)
                    first = first ?? device
                }
            }
        }
        guard let first else { throw ModelError(.invalid, field: "devices", "has no device") }
        self = first
    }

    private init(_ scanner: inout JSONScanner) throws(ModelError) {
        var device = PresentedDevice(name: "")
        var name: String?
        try scanner.object(of: Field.self, from: .record) { scanner, field throws(ModelError) in
            switch field {
            case .device: name = scanner.materialise(try scanner.string())
            case .presentation: device.presentation = try PresentationOptions(&scanner)
            case .badge: device.badge = try scanner.integer(in: 0...ModelLimits.badge)
            case .interruptionLevel: device.interruptionLevel = try scanner.choice(InterruptionLevel.self)
            case .localization: device.localization = scanner.materialise(try scanner.string())
            }
        }
        device.name = try scanner.required(name, Field.device)
        self = device
    }
}

extension DeviceDelivery {
    /// Whether the device shows a text.
    func shows(_ parts: ContentParts) -> Bool {
        parts.hasAlertText && !presentation.isDisjoint(with: [.banner, .list])
    }

    /// Whether the device plays a sound.
    func plays(_ parts: ContentParts) -> Bool { parts.sound != nil && presentation.contains(.sound) }
}
