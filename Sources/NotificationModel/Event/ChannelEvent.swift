/// An event on the topic `deliveries` about a channel: whether it sends what is for an application. The record's key is the
/// application, as in `categories` (``CategoryKey``).
public struct ChannelEvent: Sendable, Hashable {
    /// What happened to the channel: the middle of `carillon.channel.<name>.v1`.
    public enum Name: String, CaseIterable, Sendable, Hashable {
        /// The platform refuses the credentials of the application: nothing is sent for it.
        case stopped
        /// The platform accepts them again.
        case resumed

        /// The event's `ce_type`.
        public var type: StaticString {
            switch self {
            case .stopped: "carillon.channel.stopped.v1"
            case .resumed: "carillon.channel.resumed.v1"
            }
        }
    }

    /// The event's name. On Kafka it is in `ce_type`, not in the value.
    public var name: Name
    /// The channel.
    public var channel: ChannelName
    /// The application of the notifications.
    public var application: String
    /// Whose credentials they are; nil when that makes no difference.
    public var environment: DeviceRegistration.Environment?
    /// The instance of the consumer service that says so: each finds out by itself.
    public var instance: String?
    /// When the instance found out.
    public var at: Timestamp
    /// `stopped`: why, for people; at most 256 bytes, and nothing of a credential.
    public var reason: String?

    /// The longest reason in bytes.
    static let reasonBytes = 256

    /// An event. A longer reason is cut.
    public init(
        name: Name,
        channel: ChannelName,
        application: String,
        environment: DeviceRegistration.Environment? = nil,
        at: Timestamp,
        reason: String? = nil
    ) {
        (self.name, self.channel, self.application) = (name, channel, application)
        (self.environment, self.at) = (environment, at)
        self.reason = reason.map { String(decoding: $0.utf8.prefix(Self.reasonBytes), as: UTF8.self) }
    }

    /// A deterministic event id, so that a repeated event can be recognized: a UUIDv5 in ``UUIDv5/eventNamespace`` of the pieces
    /// `channel`, name, channel, application, environment and instance (empty if none) and instant (milliseconds since 1970 in
    /// decimal), joined as ``UUIDv5`` describes.
    public var eventID: UUIDValue {
        var hash = NameHash(namespace: UUIDv5.eventNamespace)
        hash.updatePiece("channel")
        hash.updatePiece(name.rawValue)
        hash.updatePiece(channel.rawValue)
        hash.updatePiece(application)
        hash.updatePiece(environment?.rawValue ?? "")
        hash.updatePiece(instance ?? "")
        hash.updatePiece(decimal: at.rawValue)
        return hash.finish()
    }
}

extension ChannelEvent {
    private enum Field: FieldName {
        case channel, application, environment, instance, at, reason
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
            return try scanner.whole { scanner throws(ModelError) in try ChannelEvent(&scanner, name) }
        }
    }

    private init(_ scanner: inout JSONScanner, _ name: Name) throws(ModelError) {
        var (channel, application, at): (ChannelName?, String?, Timestamp?)
        var (environment, instance, reason): (DeviceRegistration.Environment?, String?, String?)
        try scanner.object(of: Field.self, from: .record) { scanner, field throws(ModelError) in
            switch field {
            case .channel: channel = try scanner.choice(ChannelName.self)
            case .application: application = try scanner.materialise(scanner.string())
            case .environment: environment = try scanner.choice(DeviceRegistration.Environment.self)
            case .instance: instance = try scanner.materialise(scanner.string())
            case .at: at = try scanner.timestamp()
            case .reason: reason = try scanner.materialise(scanner.string())
            }
        }
        self.init(
            name: name,
            channel: try scanner.required(channel, Field.channel),
            application: try scanner.required(application, Field.application),
            environment: environment,
            at: try scanner.required(at, Field.at),
            reason: reason
        )
        self.instance = instance
    }

    /// The event's JSON.
    public var json: [UInt8] {
        var out: [UInt8] = []
        var object = JSONObjectWriter()
        object.member(Field.channel, channel.rawValue, &out)
        object.member(Field.application, application, &out)
        object.member(Field.environment, environment?.rawValue, &out)
        object.member(Field.instance, instance, &out)
        object.member(Field.at, at, &out)
        object.member(Field.reason, reason, &out)
        object.end(&out)
        return out
    }
}
