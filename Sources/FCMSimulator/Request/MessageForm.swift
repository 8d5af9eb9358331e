import NotificationModel

/// The fields of a request to `messages:send` that the simulator knows, with their types, as Google's interface has them. What is
/// not among them is refused as Google refuses it.
indirect enum MessageForm: Sendable {
    case text
    case texts
    case flag
    case number
    /// Seconds with an `s`.
    case duration
    case choice([String])
    /// Names of one's own, with texts.
    case map
    /// JSON of one's own.
    case anything
    case object([String: MessageForm])

    /// `SendMessageRequest`.
    static let request = MessageForm.object(["validateOnly": .flag, "message": message])

    private static let options = MessageForm.object(["analyticsLabel": .text, "image": .text, "link": .text])

    private static let message = MessageForm.object([
        "name": .text, "data": .map, "token": .text, "fid": .text, "topic": .text, "condition": .text,
        "notification": .object(["title": .text, "body": .text, "image": .text]), "fcmOptions": options,
        "android": .object(
            android.merging([
                "priority": .choice(["NORMAL", "HIGH"]),
                "notification": .object(
                    notification.merging([
                        "bypassProxyNotification": .flag,
                        "proxy": .choice(["PROXY_UNSPECIFIED", "ALLOW", "DENY", "IF_PRIORITY_LOWERED"]),
                    ]) { $1 }
                ),
            ]) { $1 }
        ),
        "androidV2": .object(
            android.merging([
                "backgroundSync": .object([:]),
                "remoteNotification": .object([
                    "mutableContent": .flag, "useAsV1DataMessage": .flag,
                    "notification": .object(notification.merging(["id": .number]) { $1 }),
                ]),
            ]) { $1 }
        ),
        "apns": .object(["headers": .map, "payload": .anything, "liveActivityToken": .text, "fcmOptions": options]),
        "webpush": .object(["headers": .map, "data": .map, "notification": .anything, "fcmOptions": options]),
    ])

    private static let android: [String: MessageForm] = [
        "collapseKey": .text, "ttl": .duration, "restrictedPackageName": .text, "data": .map, "fcmOptions": options,
        "directBootOk": .flag, "bandwidthConstrainedOk": .flag, "restrictedSatelliteOk": .flag,
    ]

    private static let notification: [String: MessageForm] = [
        "title": .text, "body": .text, "icon": .text, "color": .text, "sound": .text, "tag": .text,
        "clickAction": .text, "bodyLocKey": .text, "bodyLocArgs": .texts, "titleLocKey": .text, "titleLocArgs": .texts,
        "channelId": .text, "ticker": .text, "sticky": .flag, "eventTime": .text, "localOnly": .flag,
        "notificationPriority": .choice([
            "PRIORITY_UNSPECIFIED", "PRIORITY_MIN", "PRIORITY_LOW", "PRIORITY_DEFAULT", "PRIORITY_HIGH", "PRIORITY_MAX",
        ]),
        "defaultSound": .flag, "defaultVibrateTimings": .flag, "defaultLightSettings": .flag, "vibrateTimings": .texts,
        "visibility": .choice(["VISIBILITY_UNSPECIFIED", "PRIVATE", "PUBLIC", "SECRET"]), "notificationCount": .number,
        "lightSettings": .anything, "image": .text,
    ]

    /// Checks a value.
    ///
    /// - Parameter field: its path, for the refusal.
    /// - Returns: the value with the names of its fields in camel case: `snake_case` is read as well.
    func checked(_ value: JSONValue, _ field: String) throws(FCMRefusal) -> JSONValue {
        func refused(_ expected: String) -> FCMRefusal { .invalid(field, "Invalid value at '\(field)' (\(expected))") }
        switch self {
        case .anything: break
        case .text: if value.stringValue == nil { throw refused("TYPE_STRING") }
        case .texts:
            guard value.arrayValue?.allSatisfy({ $0.stringValue != nil }) == true else { throw refused("TYPE_STRING") }
        case .flag: if value.boolValue == nil { throw refused("TYPE_BOOL") }
        case .number: if value.integerValue.map({ Int32(exactly: $0) != nil }) != true { throw refused("TYPE_INT32") }
        case .duration:
            guard let text = value.stringValue, text.hasSuffix("s"), let seconds = Double(text.dropLast()),
                (0...2_419_200).contains(seconds)
            else { throw refused("type.googleapis.com/google.protobuf.Duration") }
        case .choice(let names):
            guard let text = value.stringValue, names.contains(text.uppercased()) else { throw refused("TYPE_ENUM") }
        case .map:
            guard let members = value.objectValue, members.allSatisfy({ $0.value.stringValue != nil }) else {
                throw refused("TYPE_STRING")
            }
        case .object(let forms):
            guard let members = value.objectValue else { throw refused("TYPE_MESSAGE") }
            var checked: [JSONValue.Member] = []
            for member in members {
                let name = Self.camelCase(member.name)
                guard let form = forms[name] else {
                    throw .invalid(
                        field,
                        "Invalid JSON payload received. Unknown name \"\(member.name)\" at '\(field)'"
                    )
                }
                let path = field.isEmpty ? name : "\(field).\(name)"
                checked.append(.init(name, try form.checked(member.value, path)))
            }
            return .object(checked)
        }
        return value
    }

    private static func camelCase(_ name: String) -> String {
        let words = name.split(separator: "_")
        guard words.count > 1, let first = words.first else { return name }
        return first + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }
}
