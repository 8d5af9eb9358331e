/// An event on the topic `deliveries` about a recipient's device. The record's key is the device's.
public struct DeviceEvent: Sendable, Hashable {
    /// What happened to the device: the middle of `carillon.device.<name>.v1`.
    public enum Name: String, CaseIterable, Sendable, Hashable {
        /// It is new, or its registration changed.
        case registered
        /// It gets no notifications any more.
        case retired

        /// The event's `ce_type`.
        public var type: StaticString {
            switch self {
            case .registered: "carillon.device.registered.v1"
            case .retired: "carillon.device.retired.v1"
            }
        }

        /// Reads a `ce_type`; nil for any other type.
        public init?(type: String) {
            guard let name = Self.allCases.first(where: { $0.type.description.hasSameUTF8(as: type) }) else {
                return nil
            }
            self = name
        }
    }

    /// The event's name. On Kafka it is in `ce_type`, not in the value.
    public var name: Name
    /// Application, recipient and, as the identifier, the device.
    public var key: NotificationKey
    /// When its record in `devices` was written, or when its token was gone.
    public var at: Timestamp
    /// The platform, when it is known.
    public var platform: String?
    /// What its token is for, unless it is the ordinary one.
    public var kind: TokenKind?
    /// `retired`: the token as it was registered last; nil where the settings leave registrations out of events.
    public var token: String?
    /// `retired`: which servers of the platform know the token.
    public var environment: DeviceRegistration.Environment?
    /// `retired`: the app's bundle identifier.
    public var bundleIdentifier: String?
    /// `retired`: why; nil when its owner removed it.
    public var reason: ReasonCode?
    /// `retired`: identifiers of notifications that the device may still show.
    public var shows: [String]

    /// An event.
    public init(
        name: Name,
        key: NotificationKey,
        at: Timestamp,
        platform: String? = nil,
        reason: ReasonCode? = nil,
        shows: [String] = []
    ) {
        (self.name, self.key, self.at) = (name, key, at)
        (self.platform, self.reason, self.shows) = (platform, reason, shows)
    }

    /// A deterministic event id, so that a repeated event can be recognized: a UUIDv5 in ``UUIDv5/eventNamespace`` of
    /// the pieces `device`, name, encoded key and instant (milliseconds since 1970 in decimal), joined as ``UUIDv5``
    /// describes.
    public var eventID: UUIDValue {
        var hash = NameHash(namespace: UUIDv5.eventNamespace)
        hash.updatePiece("device")
        hash.updatePiece(name.rawValue)
        key.encoded.withUnsafeBytes { hash.updatePiece($0) }
        hash.updatePiece(decimal: at.rawValue)
        return hash.finish()
    }

    /// Appends the 36 bytes of ``eventID``.
    public func writeEventID(to out: inout [UInt8]) { eventID.write(to: &out) }
}

extension DeviceEvent {
    private enum Field: FieldName {
        case application, recipient, device, platform, token, environment, bundleIdentifier, at, reason, shows, kind
    }

    /// Reads an event's value. Ignores unknown fields, as readers of events must.
    ///
    /// Throws `invalid` or `not-utf8` with the missing or wrongly typed field.
    ///
    /// - Parameters:
    ///   - json: the record's value.
    ///   - name: the event's name from `ce_type`.
    public init(json: [UInt8], name: Name) throws(ModelError) {
        self = try json.borrowed { bytes throws(ModelError) in
            var scanner = JSONScanner(bytes)
            return try scanner.whole { scanner throws(ModelError) in try DeviceEvent(&scanner, name) }
        }
    }

    private init(_ scanner: inout JSONScanner, _ name: Name) throws(ModelError) {
        var (application, recipient, device, platform): (String?, String?, String?, String?)
        var (token, environment, bundle): (String?, DeviceRegistration.Environment?, String?)
        var kind: TokenKind?
        var at: Timestamp?
        var reason: ReasonCode?
        var shows: [String]?
        try scanner.object(of: Field.self, from: .record) { scanner, field throws(ModelError) in
            switch field {
            case .application: application = try scanner.materialise(scanner.string())
            case .recipient: recipient = try scanner.materialise(scanner.string())
            case .device: device = try scanner.materialise(scanner.string())
            case .platform: platform = try scanner.materialise(scanner.string())
            case .kind: kind = try scanner.choice(TokenKind.self)
            case .token: token = try scanner.materialise(scanner.string())
            case .environment: environment = try scanner.choice(DeviceRegistration.Environment.self)
            case .bundleIdentifier: bundle = try scanner.materialise(scanner.string())
            case .at: at = try scanner.timestamp()
            case .reason: reason = try scanner.choice(ReasonCode.self)
            case .shows: shows = try scanner.texts()
            }
        }
        try self.init(
            name: name,
            key: .device(
                scanner.required(device, Field.device),
                of: scanner.required(recipient, Field.recipient),
                in: scanner.required(application, Field.application)
            ),
            at: scanner.required(at, Field.at),
            platform: platform,
            reason: reason,
            shows: shows ?? []
        )
        (self.kind, self.token, self.environment, bundleIdentifier) = (kind, token, environment, bundle)
    }

    /// Appends the event's JSON.
    public func write(to out: inout [UInt8]) {
        var object = JSONObjectWriter()
        object.member(Field.application, key.application, &out)
        object.member(Field.recipient, key.recipient, &out)
        object.member(Field.device, key.identifier, &out)
        object.member(Field.platform, platform, &out)
        object.member(Field.kind, kind?.rawValue, &out)
        object.member(Field.token, token, &out)
        object.member(Field.environment, environment?.rawValue, &out)
        object.member(Field.bundleIdentifier, bundleIdentifier, &out)
        object.member(Field.at, at, &out)
        object.member(Field.reason, reason?.rawValue, &out)
        if !shows.isEmpty { object.member(Field.shows, shows, &out) }
        object.end(&out)
    }

    /// The event's JSON.
    public var json: [UInt8] {
        var out: [UInt8] = []
        write(to: &out)
        return out
    }
}

extension JSONScanner {
    /// Reads an array of texts.
    package mutating func texts() throws(ModelError) -> [String] {
        var texts: [String] = []
        try array { scanner, _ throws(ModelError) in texts.append(scanner.materialise(try scanner.string())) }
        return texts
    }
}
