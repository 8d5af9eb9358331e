/// An event on the topic `responses`: what a person did with a notification, and the content that it answers. The
/// record's key is the notification's.
public struct ResponseEvent: Sendable, Hashable {
    /// The event's `ce_type`.
    public static let type: StaticString = "carillon.notification.response.v1"

    /// The response: each is emitted once.
    public var responseID: RequestID
    /// The request that it answers.
    public var requestID: RequestID
    /// The notification's key.
    public var key: NotificationKey
    /// The device, when the gateway told it.
    public var device: String?
    /// The action: ``ResponseSignal/defaultAction``, ``ResponseSignal/dismissAction`` or one of the category.
    public var actionIdentifier: String
    /// What the person typed.
    public var userText: String?
    /// False when the notification is no longer kept: then nothing but the response is known.
    public var matched: Bool
    /// The category that the notification was delivered with.
    public var categoryIdentifier: String?
    /// The content as delivered, a JSON object.
    public var content: ArraySlice<UInt8>?
    /// Whether the content was left out, because the event did not fit a record with it.
    public var omitsContent = false

    /// An event with the required fields; set the others afterwards.
    public init(
        responseID: RequestID,
        requestID: RequestID,
        key: NotificationKey,
        actionIdentifier: String,
        matched: Bool
    ) {
        (self.responseID, self.requestID, self.key) = (responseID, requestID, key)
        (self.actionIdentifier, self.matched) = (actionIdentifier, matched)
    }

    /// A deterministic event id, so that a repeated event can be recognized: a UUIDv5 in ``UUIDv5/eventNamespace`` of
    /// the pieces `response`, response id and encoded key, joined as ``UUIDv5`` describes.
    public var eventID: UUIDValue {
        var hash = NameHash(namespace: UUIDv5.eventNamespace)
        hash.updatePiece("response")
        switch responseID {
        case .uuid(let value): hash.updatePiece(canonical: value)
        case .text(let text): hash.updatePiece(text)
        }
        key.encoded.withUnsafeBytes { hash.updatePiece($0) }
        return hash.finish()
    }

    /// Appends the 36 bytes of ``eventID``.
    public func writeEventID(to out: inout [UInt8]) { eventID.write(to: &out) }
}

extension ResponseEvent {
    private enum Field: FieldName {
        case responseID = "responseId", requestID = "requestId", application, recipient, identifier, device
        case actionIdentifier, userText, matched, categoryIdentifier, content, omitted
    }

    /// Reads an event's value. Ignores unknown fields, as readers of events must.
    ///
    /// Throws `invalid` or `not-utf8` with the missing or wrongly typed field.
    public init(json: [UInt8]) throws(ModelError) {
        self = try json.borrowed { bytes throws(ModelError) in
            var scanner = JSONScanner(bytes)
            return try scanner.whole { scanner throws(ModelError) in try ResponseEvent(&scanner, in: json) }
        }
    }

    private init(_ scanner: inout JSONScanner, in json: [UInt8]) throws(ModelError) {
        var (responseID, requestID): (RequestID?, RequestID?)
        var (application, recipient, identifier): (String?, String?, String?)
        var (device, action, userText, category): (String?, String?, String?, String?)
        var matched: Bool?
        var content: ArraySlice<UInt8>?
        var omitted: [String]?
        try scanner.object(of: Field.self, from: .record) { scanner, field throws(ModelError) in
            switch field {
            case .responseID: responseID = try scanner.requestID()
            case .requestID: requestID = try scanner.requestID()
            case .application: application = try scanner.materialise(scanner.string())
            case .recipient: recipient = try scanner.materialise(scanner.string())
            case .identifier: identifier = try scanner.materialise(scanner.string())
            case .device: device = try scanner.materialise(scanner.string())
            case .actionIdentifier: action = try scanner.materialise(scanner.string())
            case .userText: userText = try scanner.materialise(scanner.string())
            case .matched: matched = try scanner.boolean()
            case .categoryIdentifier: category = try scanner.materialise(scanner.string())
            case .content: content = try scanner.object(of: json)
            case .omitted: omitted = try scanner.texts()
            }
        }
        try self.init(
            responseID: scanner.required(responseID, Field.responseID),
            requestID: scanner.required(requestID, Field.requestID),
            key: NotificationKey(
                application: scanner.required(application, Field.application),
                recipient: scanner.required(recipient, Field.recipient),
                identifier: scanner.required(identifier, Field.identifier)
            ),
            actionIdentifier: scanner.required(action, Field.actionIdentifier),
            matched: scanner.required(matched, Field.matched)
        )
        (self.device, self.userText, categoryIdentifier) = (device, userText, category)
        self.content = content
        omitsContent = omitted?.contains(Field.content.rawValue.text) == true
    }

    /// Appends the event's JSON.
    public func write(to out: inout [UInt8]) {
        var object = JSONObjectWriter()
        object.member(Field.responseID, responseID, &out)
        object.member(Field.requestID, requestID, &out)
        object.separate(&out)
        key.writeJSONFields(to: &out)
        object.member(Field.device, device, &out)
        object.member(Field.actionIdentifier, actionIdentifier, &out)
        object.member(Field.userText, userText, &out)
        object.member(Field.matched, matched, &out)
        object.member(Field.categoryIdentifier, categoryIdentifier, &out)
        if let content {
            object.begin(Field.content, &out)
            JSONWriter.append(raw: content, to: &out)
        }
        if omitsContent { object.member(Field.omitted, [Field.content.rawValue.text], &out) }
        object.end(&out)
    }

    /// The event's JSON.
    public var json: [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(512 + (content?.count ?? 0))
        write(to: &out)
        return out
    }
}
