import NotificationModel

/// The header fields of a push, read and checked.
struct PushHeaders: Sendable {
    /// Bytes of `apns-collapse-id`.
    static let collapseIDBytes = 64
    /// Bytes of `apns-topic`; Apple names no limit.
    static let topicBytes = 255

    /// Nil when the sender left it to APNs.
    var id: String?
    /// `apns-push-type`, else alert.
    var type: PushType
    var topic: String
    var priority: PushPriority
    var expiration: Expiration
    var collapseID: String?

    /// How long APNs tries to deliver.
    enum Expiration: Hashable, Sendable {
        /// As long as APNs keeps notifications: at most 30 days.
        case longest
        /// Once: it is not stored.
        case once
        /// Until then.
        case at(Timestamp)

        /// Whether it has passed. That of ``once`` has from the beginning.
        func isOver(at now: Timestamp, since accepted: Timestamp) -> Bool {
            switch self {
            case .longest: now.rawValue - accepted.rawValue > 30 * 86_400_000
            case .once: true
            case .at(let end): end <= now
            }
        }
    }

    /// Checks each field, and that type, topic and priority go together.
    ///
    /// - Parameter certificateTopics: Of the connection's client certificate: a single one stands for a missing header.
    init(_ headers: RequestHeaders, certificateTopics: [String]? = nil) throws(Refusal) {
        try Self.check(headers)
        id = headers.id
        if let topic = headers.topic {
            guard Self.isTopic(topic) else { throw Refusal(.badTopic) }
            self.topic = topic
        } else if let topic = certificateTopics?.first, certificateTopics?.count == 1 {
            self.topic = topic
        } else {
            throw Refusal(.missingTopic)
        }
        if let text = headers.pushType {
            guard let type = PushType(rawValue: text) else { throw Refusal(.invalidPushType) }
            self.type = type
        } else {
            type = .alert
        }
        expiration = try Self.expiration(headers.expiration)
        priority = try Self.priority(headers.priority)
        // Omitted counts as 10, for every type.
        if type == .background, priority == .immediate { throw Refusal(.badPriority) }
        if let collapseID = headers.collapseID {
            guard (1...Self.collapseIDBytes).contains(collapseID.utf8.count) else { throw Refusal(.badCollapseID) }
            self.collapseID = collapseID
        }
    }

    /// The header fields of a broadcast, checked.
    ///
    /// - Parameter bundleIdentifier: Of the path: a broadcast has no topic.
    init(broadcast headers: RequestHeaders, bundleIdentifier: String) throws(Refusal) {
        try Self.check(headers)
        guard let type = headers.pushType else { throw Refusal(.missingPushType) }
        guard type == PushType.liveactivity.rawValue else { throw Refusal(.invalidPushType) }
        self.type = .liveactivity
        topic = bundleIdentifier + PushType.liveactivity.topicSuffix
        id = headers.id
        expiration = try Self.expiration(headers.expiration)
        priority = try Self.priority(headers.priority)
    }

    /// What holds for every request: no field twice, and an id in its canonical form.
    static func check(_ headers: RequestHeaders) throws(Refusal) {
        guard !headers.hasDuplicates else { throw Refusal(.duplicateHeaders) }
        guard headers.id.map(isIdentifier) ?? true else { throw Refusal(.badMessageID) }
    }

    /// Whether it is a UUID in lower case, 8-4-4-4-12.
    static func isIdentifier(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { UUIDValue(canonical: UnsafeRawBufferPointer($0)) != nil }
    }

    static func expiration(_ text: String?) throws(Refusal) -> Expiration {
        guard let text else { return .longest }
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let seconds = Int64(text),
            seconds <= Timestamp.latest.rawValue / 1_000
        else { throw Refusal(.badExpirationDate) }
        return seconds == 0 ? .once : .at(Timestamp(rawValue: seconds * 1_000))
    }

    static func priority(_ text: String?) throws(Refusal) -> PushPriority {
        switch text {
        case nil, "10"?: return .immediate
        case "5"?: return .conserving
        case "1"?: return .lowest
        default: throw Refusal(.badPriority)
        }
    }

    private static func isTopic(_ text: String) -> Bool {
        guard (1...topicBytes).contains(text.utf8.count) else { return false }
        return text.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
            default: false
            }
        }
    }
}
