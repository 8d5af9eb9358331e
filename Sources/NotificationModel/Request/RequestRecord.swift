/// A value of the topic `requests`, scanned in one pass: everything validated, little built.
public enum RequestRecord: Sendable {
    /// A request.
    case request(ScannedRequest)
    /// A removal.
    case removal(ScannedRemoval)

    /// Where a body comes from.
    public enum Form: Sendable {
        /// A record's value: `requestId`, `application`, `recipient` and `identifier` may be in it; the last three
        /// must then say what the key says.
        case record
        /// An HTTP body of a request: those four and `remove` are unknown fields.
        case body
    }

    /// Validates a value and notes where its parts are.
    ///
    /// Throws ``ModelError`` with `too-large`, `not-utf8`, `unknown-field`, `unknown-trigger` or `invalid`, the field
    /// being a dotted path (`content.attachments.0.url`) where one is to blame. Allocates nothing for valid requests
    /// with a push or time-interval trigger.
    public static func scan(
        _ value: [UInt8],
        key: NotificationKey,
        form: Form = .record
    ) throws(ModelError) -> RequestRecord {
        try value.borrowed { bytes throws(ModelError) in try scan(bytes, key: key, form: form) }
    }

    /// Validates borrowed bytes, as ``scan(_:key:form:)-([UInt8],_,_)``; ranges count from their start.
    public static func scan(
        _ bytes: UnsafeRawBufferPointer,
        key: NotificationKey,
        form: Form = .record
    ) throws(ModelError) -> RequestRecord {
        guard bytes.count <= ModelLimits.requestBytes else {
            throw ModelError(
                .tooLarge,
                "the value has \(bytes.count) bytes, at most \(ModelLimits.requestBytes) are allowed"
            )
        }
        var scanner = JSONScanner(bytes)
        return try scanner.whole { scanner throws(ModelError) in try scanner.requestRecord(key: key, form: form) }
    }
}

/// A valid request, its content left in place.
public struct ScannedRequest: Sendable, Hashable {
    /// The id it carries, if any.
    public var requestID: RequestID?
    /// Guards order; at least 0.
    public var version: Int64?
    /// Where the content's JSON object lies in the value.
    public var content: Range<Int>
    /// When it is due; `push` when none was given.
    public var trigger: NotificationTrigger
    /// Not to be delivered from this instant on.
    public var expiration: Timestamp?
    /// Milliseconds to wait for a newer one before it is sent.
    public var collapseWindow: Int64?

    /// A scanned request, as tests build it.
    public init(
        requestID: RequestID? = nil,
        version: Int64? = nil,
        content: Range<Int>,
        trigger: NotificationTrigger = .push,
        expiration: Timestamp? = nil,
        collapseWindow: Int64? = nil
    ) {
        self.requestID = requestID
        self.version = version
        self.content = content
        self.trigger = trigger
        self.expiration = expiration
        self.collapseWindow = collapseWindow
    }
}

/// A valid removal.
public struct ScannedRemoval: Sendable, Hashable {
    /// The id it carries, if any.
    public var requestID: RequestID?
    /// Guards order; at least 0.
    public var version: Int64?
    /// What is removed.
    public var scope: RemovalScope

    /// A scanned removal, as tests build it. A null value is one of everything under its identifier.
    public init(requestID: RequestID? = nil, version: Int64? = nil, scope: RemovalScope) {
        self.requestID = requestID
        self.version = version
        self.scope = scope
    }
}
