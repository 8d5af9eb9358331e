/// An event on the topic `deliveries`: what happened to a notification.
///
/// The name determines which optional fields are present; see `contracts`. Fields that are JSON already are slices and
/// are written unchanged.
public struct DeliveryEvent: Sendable, Hashable {
    /// The state of the notification, for a removal that found nothing pending.
    public enum Known: String, CaseIterable, Sendable, Hashable {
        /// It was delivered.
        case delivered
        /// Nothing is known.
        case unknown
    }

    /// A thread of notifications: `{"identifier":"orders","count":3,"update":false}`.
    public struct Thread: Sendable, Hashable {
        /// The identifier as JSON without quotes.
        public var identifier: ArraySlice<UInt8>
        /// How many notifications are shown in it, with this one.
        public var count: Int
        /// Whether this one does not begin the thread.
        public var isUpdate: Bool

        /// A thread.
        public init(identifier: ArraySlice<UInt8>, count: Int = 1, isUpdate: Bool) {
            (self.identifier, self.count, self.isUpdate) = (identifier, count, isUpdate)
        }
    }

    /// The event's name. On Kafka it is in `ce_type`, not in the value.
    public var name: DeliveryEventName
    /// The request that the event is about.
    public var requestID: RequestID
    /// The notification's key.
    public var key: NotificationKey
    /// Whether this is the last event of its request; exactly one event closes a request.
    public var closes: Bool
    /// The nominal instant of the trigger.
    public var occurrence: Timestamp?
    /// `scheduled`: when it is due.
    public var nextTriggerDate: Timestamp?
    /// `held`: until when.
    public var until: Timestamp?
    /// `missed`: the first occurrence.
    public var first: Timestamp?
    /// `missed`: the last occurrence.
    public var last: Timestamp?
    /// `missed`: how many, at least 1.
    public var count: Int?
    /// `scheduled`, `delivered`: the request that this one replaces.
    public var replaces: RequestID?
    /// `superseded`: the request that replaced this one.
    public var by: RequestID?
    /// `digested`: the request that this one was merged into.
    public var into: RequestID?
    /// `cancellation.missed`: the known state.
    public var known: Known?
    /// `suppressed`, `held`, `failed`: why.
    public var reason: ReasonCode?
    /// The channel that delivered the notification.
    public var channel: String?
    /// `device.attempted`: the device.
    public var device: String?
    /// `delivered`: the content as a JSON object.
    public var content: ArraySlice<UInt8>?
    /// `delivered`: the outcome for each attachment, a JSON object.
    public var enrichment: ArraySlice<UInt8>?
    /// `delivered`: the targeted devices and their outcomes, a JSON array.
    public var devices: ArraySlice<UInt8>?
    /// `delivered`: the actions of its category, a JSON array.
    public var actions: ArraySlice<UInt8>?
    /// `delivered`: after this instant it is of no use to the devices.
    public var expiration: Timestamp?
    /// `delivered`: the thread that it is in.
    public var thread: Thread?
    /// `device.attempted`: what the gateway or the channel says; nil of a removal.
    public var outcome: ReportSignal.Outcome?
    /// `device.attempted`: what became of a removal on the device. In JSON it is the member `outcome`, too.
    public var removal: RemovalOutcome?
    /// `device.attempted`: of what the device got less, because all of it was too large.
    public var reduced: [ReducedPart] = []
    /// `device.attempted`: the gateway's own words.
    public var detail: String?
    /// `device.received`, `device.presented`, `device.opened`, `device.attempted`: the request is no longer the one that is
    /// shown.
    public var isLate = false
    /// What was left out, because the event did not fit a record.
    public var omitted: Omissions = []
    /// The notification may have been sent before by an instance that failed before it recorded the outcome.
    public var inDoubt: Bool
    /// An instance of a version whose ids did not contain the key may have published it: it has that id then.
    public var hasFormerID = false

    /// An event with the required fields; set the others afterwards.
    public init(
        name: DeliveryEventName,
        requestID: RequestID,
        key: NotificationKey,
        closes: Bool,
        inDoubt: Bool = false
    ) {
        self.name = name
        self.requestID = requestID
        self.key = key
        self.closes = closes
        self.inDoubt = inDoubt
    }

    /// Appends the event's JSON.
    public func write(to out: inout [UInt8]) {
        JSONWriter.append("{\"requestId\":", to: &out)
        requestID.writeJSON(to: &out)
        out.append(0x2C)
        key.writeJSONFields(to: &out)
        if closes {
            JSONWriter.append(",\"closes\":true", to: &out)
        } else {
            JSONWriter.append(",\"closes\":false", to: &out)
        }
        if let occurrence { Self.write(",\"occurrence\":", occurrence, to: &out) }
        if let nextTriggerDate { Self.write(",\"nextTriggerDate\":", nextTriggerDate, to: &out) }
        if let until { Self.write(",\"until\":", until, to: &out) }
        if let first { Self.write(",\"first\":", first, to: &out) }
        if let last { Self.write(",\"last\":", last, to: &out) }
        if let count {
            JSONWriter.append(",\"count\":", to: &out)
            JSONWriter.append(number: count, to: &out)
        }
        if let replaces { Self.write(",\"replaces\":", replaces, to: &out) }
        if let by { Self.write(",\"by\":", by, to: &out) }
        if let into { Self.write(",\"into\":", into, to: &out) }
        if let known { Self.write(",\"known\":", known.rawValue, to: &out) }
        if let reason { Self.write(",\"reason\":", reason.rawValue, to: &out) }
        if let channel { Self.write(",\"channel\":", channel, to: &out) }
        if let device { Self.write(",\"device\":", device, to: &out) }
        if let content { Self.write(",\"content\":", content, to: &out) }
        if let enrichment { Self.write(",\"enrichment\":", enrichment, to: &out) }
        if let devices { Self.write(",\"devices\":", devices, to: &out) }
        if let actions { Self.write(",\"actions\":", actions, to: &out) }
        if let expiration { Self.write(",\"expiration\":", expiration, to: &out) }
        if let thread { Self.write(thread, to: &out) }
        if let outcome { Self.write(",\"outcome\":", outcome.rawValue, to: &out) }
        if let removal { Self.write(",\"outcome\":", removal.rawValue, to: &out) }
        if !reduced.isEmpty {
            JSONWriter.append(",\"reduced\":", to: &out)
            reduced.map(\.rawValue).writeJSON(to: &out)
        }
        if let detail { Self.write(",\"detail\":", detail, to: &out) }
        if isLate { JSONWriter.append(",\"late\":true", to: &out) }
        if !omitted.isEmpty {
            JSONWriter.append(",\"omitted\":", to: &out)
            omitted.names.writeJSON(to: &out)
        }
        if inDoubt { JSONWriter.append(",\"inDoubt\":true", to: &out) }
        out.append(0x7D)
    }

    /// The event's JSON.
    public var json: [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(256 + (content?.count ?? 0))
        write(to: &out)
        return out
    }

    /// A deterministic event id, so that a repeated event can be recognized: a UUIDv5 in ``UUIDv5/eventNamespace`` of
    /// the pieces request id, occurrence (milliseconds since 1970 in decimal, empty if none), name, device (empty if
    /// none), encoded key and, only of an attempt, its outcome, joined as ``UUIDv5`` describes.
    public var eventID: UUIDValue {
        var hash = NameHash(namespace: UUIDv5.eventNamespace)
        hash.updatePiece(requestID)
        hash.updatePiece(decimal: occurrence?.rawValue)
        hash.updatePiece(name.rawValue)
        hash.updatePiece(device ?? "")
        if !hasFormerID { key.encoded.withUnsafeBytes { hash.updatePiece($0) } }
        if let outcome = outcome?.rawValue ?? removal?.rawValue { hash.updatePiece(outcome) }
        return hash.finish()
    }

    /// Appends the 36 bytes of ``eventID``.
    public func writeEventID(to out: inout [UInt8]) {
        eventID.write(to: &out)
    }

    private static func write(_ thread: Thread, to out: inout [UInt8]) {
        JSONWriter.append(",\"thread\":{\"identifier\":\"", to: &out)
        out.append(contentsOf: thread.identifier)
        JSONWriter.append("\",\"count\":", to: &out)
        JSONWriter.append(number: thread.count, to: &out)
        JSONWriter.append(thread.isUpdate ? ",\"update\":true}" : ",\"update\":false}", to: &out)
    }

    @inline(__always)
    private static func write(_ label: StaticString, _ value: Timestamp, to out: inout [UInt8]) {
        JSONWriter.append(label, to: &out)
        JSONWriter.append(timestamp: value, to: &out)
    }

    @inline(__always)
    private static func write(_ label: StaticString, _ value: RequestID, to out: inout [UInt8]) {
        JSONWriter.append(label, to: &out)
        value.writeJSON(to: &out)
    }

    @inline(__always)
    private static func write(_ label: StaticString, _ value: String, to out: inout [UInt8]) {
        JSONWriter.append(label, to: &out)
        JSONWriter.append(string: value, to: &out)
    }

    @inline(__always)
    private static func write(_ label: StaticString, _ value: ArraySlice<UInt8>, to out: inout [UInt8]) {
        JSONWriter.append(label, to: &out)
        JSONWriter.append(raw: value, to: &out)
    }
}

extension NameHash {
    package mutating func updatePiece(_ id: RequestID) {
        switch id {
        case .uuid(let value): updatePiece(canonical: value)
        case .text(let text): updatePiece(text)
        }
    }
}
