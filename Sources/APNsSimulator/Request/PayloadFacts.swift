import NotificationModel

/// What APNs and a device look at in a payload.
struct PayloadFacts: Sendable, Hashable {
    /// Whether there is an object `aps`.
    var hasAps = false
    /// Whether `alert` has something to show.
    var hasAlert = false
    var badge: Int64?
    var hasSound = false
    var isContentAvailable = false
    var hasContentChanged = false
    var activity = ActivityFacts()
    /// What Carillon says to the app.
    var carillon: CarillonMember?
    /// Members whose type is wrong: a device ignores the payload.
    var wrongMembers: [String] = []

    /// What concerns Live Activities.
    struct ActivityFacts: Sendable, Hashable {
        enum Event: String, CaseIterable, Sendable { case start, update, end }

        var event: Event?
        /// In seconds since 1970.
        var timestamp: Int64?
        var staleDate: Int64?
        var dismissalDate: Int64?
        var contentState: [UInt8]?
        var attributesType: String?
        var hasAttributes = false
        var wantsToken = false
        var channel: String?
        /// Whether a date is not a whole number of seconds.
        var hasBadDate = false
    }

    private enum Field: FieldName { case aps, carillon }

    private enum ApsField: FieldName {
        case alert, badge, sound, timestamp, event, attributes
        case contentAvailable = "content-available"
        case contentChanged = "content-changed"
        case contentState = "content-state"
        case staleDate = "stale-date"
        case dismissalDate = "dismissal-date"
        case attributesType = "attributes-type"
        case inputPushToken = "input-push-token"
        case inputPushChannel = "input-push-channel"
    }

    /// Nil for what is no JSON object.
    init?(_ payload: UnsafeRawBufferPointer) {
        do throws(ModelError) {
            var scanner = JSONScanner(payload)
            self = try scanner.whole { scanner throws(ModelError) in try PayloadFacts(&scanner) }
        } catch {
            return nil
        }
    }

    private init(_ scanner: inout JSONScanner) throws(ModelError) {
        try scanner.object { scanner, name throws(ModelError) in
            switch try scanner.field(name, of: Field.self) {
            case .aps where scanner.peek() == 0x7B:
                hasAps = true
                try readAps(&scanner)
            case .carillon: carillon = CarillonMember(try scanner.value())
            case .aps, nil: try scanner.skipValue()
            }
        }
    }

    private mutating func readAps(_ scanner: inout JSONScanner) throws(ModelError) {
        try scanner.object(of: ApsField.self, from: .record) { scanner, field throws(ModelError) in
            switch field {
            case .alert: hasAlert = try readAlert(&scanner)
            case .badge: badge = try integer(&scanner, "badge")
            case .sound:
                hasSound = true
                try scanner.skipValue()
            case .contentAvailable: isContentAvailable = try integer(&scanner, "content-available") == 1
            case .contentChanged: hasContentChanged = try scanner.value() == .bool(true)
            case .timestamp: activity.timestamp = try date(&scanner)
            case .staleDate: activity.staleDate = try date(&scanner)
            case .dismissalDate: activity.dismissalDate = try date(&scanner)
            case .event:
                activity.event = try scanner.value().stringValue.flatMap(ActivityFacts.Event.init(rawValue:))
                if activity.event == nil { wrongMembers.append("event") }
            case .contentState:
                if scanner.peek() == 0x7B {
                    activity.contentState = try scanner.value().json
                } else {
                    wrongMembers.append("content-state")
                    try scanner.skipValue()
                }
            case .attributesType: activity.attributesType = try scanner.value().stringValue
            case .attributes:
                activity.hasAttributes = scanner.peek() == 0x7B
                try scanner.skipValue()
            case .inputPushToken: activity.wantsToken = try integer(&scanner, "input-push-token") == 1
            case .inputPushChannel: activity.channel = try scanner.value().stringValue
            }
        }
    }

    /// A text that is not empty, or an object with at least one of the members that are shown.
    private mutating func readAlert(_ scanner: inout JSONScanner) throws(ModelError) -> Bool {
        switch scanner.peek() {
        case 0x22: return try scanner.string().count > 0
        case 0x7B:
            var isShown = false
            try scanner.object { scanner, name throws(ModelError) in
                switch scanner.materialise(name) {
                case "title", "subtitle", "body", "loc-key", "title-loc-key", "subtitle-loc-key": isShown = true
                default: break
                }
                try scanner.skipValue()
            }
            return isShown
        default:
            wrongMembers.append("alert")
            try scanner.skipValue()
            return false
        }
    }

    private mutating func integer(_ scanner: inout JSONScanner, _ member: String) throws(ModelError) -> Int64? {
        let number = try scanner.value().integerValue
        if number == nil { wrongMembers.append(member) }
        return number
    }

    private mutating func date(_ scanner: inout JSONScanner) throws(ModelError) -> Int64? {
        let seconds = try scanner.value().integerValue
        if seconds == nil { activity.hasBadDate = true }
        return seconds
    }
}

extension PayloadFacts {
    /// Checks what APNs refuses.
    ///
    /// - Parameters:
    ///   - bytes: Those of the payload.
    ///   - limit: That of the push type, or of broadcasts.
    static func checked(
        _ bytes: UnsafeRawBufferPointer,
        limit: Int,
        type: PushType
    ) throws(Refusal) -> PayloadFacts {
        guard bytes.count <= limit else { throw Refusal(.payloadTooLarge) }
        // Apple names no reason for what is not JSON.
        guard !bytes.isEmpty, let facts = PayloadFacts(bytes) else { throw Refusal(.payloadEmpty) }
        if type == .liveactivity, facts.activity.hasBadDate { throw Refusal(.badDate) }
        return facts
    }

    /// Why a device does nothing with it, although APNs has accepted it; nil when it does.
    func problem(for push: PushHeaders) -> String? {
        if !wrongMembers.isEmpty { return "wrong type of \(wrongMembers.joined(separator: ", "))" }
        if push.type == .mdm { return nil }
        if push.topic != PushType.bundleIdentifier(of: push.topic) + push.type.topicSuffix {
            return "the topic of \(push.type.rawValue) ends in \"\(push.type.topicSuffix)\""
        }
        guard hasAps else { return "no aps" }
        switch push.type {
        case .background:
            guard isContentAvailable else { return "a background push needs content-available: 1" }
            if hasAlert || badge != nil || hasSound { return "a background push has no alert, badge and sound" }
        case .alert:
            guard hasAlert || badge != nil || hasSound else { return "an alert needs alert, badge or sound" }
        case .widgets, .controls:
            guard hasContentChanged else { return "\(push.type.rawValue) need content-changed: true" }
        case .liveactivity: return activity.problem(hasAlert: hasAlert)
        case .complication, .fileprovider, .location, .mdm, .pushtotalk, .voip: break
        }
        return nil
    }
}

extension PayloadFacts.ActivityFacts {
    fileprivate func problem(hasAlert: Bool) -> String? {
        guard timestamp != nil else { return "a Live Activity needs timestamp" }
        guard let event else { return "a Live Activity needs event" }
        switch event {
        case .start:
            guard attributesType != nil, hasAttributes else { return "start needs attributes-type and attributes" }
            guard contentState != nil else { return "start needs content-state" }
            guard hasAlert else { return "start needs alert" }
        case .update:
            guard contentState != nil else { return "update needs content-state" }
        case .end: break
        }
        return nil
    }
}
