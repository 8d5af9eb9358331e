/// A value of the topic `requests`, scanned in one pass: everything validated, few objects built.
public enum RequestRecord: Sendable {
    /// A request.
    case request(ScannedRequest)
    /// A removal.
    case removal(ScannedRemoval)

    /// Where the bytes come from.
    enum Origin {
        /// A record's value: it may contain `requestId`, `application`, `recipient` and `identifier`; the last three
        /// must then match the key.
        case record
        /// The HTTP body of a request: those four and `remove` are unknown fields.
        case body
    }

    /// Validates a record's value and records the positions of its parts. It may contain `application`, `recipient` and
    /// `identifier`, which must then match the key.
    ///
    /// Throws ``ModelError`` with `too-large`, `not-utf8`, `unknown-field`, `unknown-trigger` or `invalid`, and the
    /// dotted path of the offending field (`content.attachments.0.url`). Allocates nothing for valid requests with a
    /// push or time-interval trigger.
    public static func scan(_ value: [UInt8], key: NotificationKey) throws(ModelError) -> RequestRecord {
        try value.borrowed { bytes throws(ModelError) in try scan(bytes, key: key) }
    }

    /// Validates borrowed bytes, as ``scan(_:key:)-([UInt8],_)``; ranges are relative to their start.
    public static func scan(_ bytes: UnsafeRawBufferPointer, key: NotificationKey) throws(ModelError) -> RequestRecord {
        try scan(bytes, key: key, origin: .record)
    }

    static func scan(
        _ bytes: UnsafeRawBufferPointer,
        key: NotificationKey,
        origin: Origin
    ) throws(ModelError) -> RequestRecord {
        guard bytes.count <= ModelLimits.requestBytes else {
            throw ModelError(
                .tooLarge,
                "the value has \(bytes.count) bytes, at most \(ModelLimits.requestBytes) are allowed"
            )
        }
        var scanner = JSONScanner(bytes)
        return try scanner.whole { scanner throws(ModelError) in
            try scanner.requestRecord(key: key, origin: origin)
        }
    }
}

/// A valid request; its content stays in the scanned bytes.
public struct ScannedRequest: Sendable, Hashable {
    /// The id in the value, if any.
    public var requestID: RequestID?
    /// Orders requests; at least 0.
    public var version: Int64?
    /// The range of the content's JSON object in the value.
    public var content: Range<Int>
    /// What of the content decides its presentation; texts by their indices in the value.
    public internal(set) var facts = ContentFacts()
    /// When it is due; `push` if the value has no trigger.
    public var trigger: NotificationTrigger
    /// Not delivered from this instant on.
    public var expiration: Timestamp?
    /// Milliseconds to wait for a newer request before sending.
    public var collapseWindow: Int64?
    /// How it leaves; nil for the default of the consumer service.
    public var channel: ChannelName?
    /// What else holds it back or limits it.
    public var limits: DeliveryLimits?

    /// A scanned request, for tests.
    public init(
        requestID: RequestID? = nil,
        version: Int64? = nil,
        content: Range<Int>,
        trigger: NotificationTrigger = .push,
        expiration: Timestamp? = nil,
        collapseWindow: Int64? = nil,
        channel: ChannelName? = nil,
        limits: DeliveryLimits? = nil
    ) {
        self.requestID = requestID
        self.version = version
        self.content = content
        self.trigger = trigger
        self.expiration = expiration
        self.collapseWindow = collapseWindow
        self.channel = channel
        self.limits = limits
    }
}

/// A valid removal.
public struct ScannedRemoval: Sendable, Hashable {
    /// The id in the value, if any.
    public var requestID: RequestID?
    /// Orders requests; at least 0.
    public var version: Int64?
    /// The notifications to remove.
    public var scope: RemovalScope

    /// A scanned removal, for tests. A null value removes everything under its identifier.
    public init(requestID: RequestID? = nil, version: Int64? = nil, scope: RemovalScope) {
        self.requestID = requestID
        self.version = version
        self.scope = scope
    }
}
