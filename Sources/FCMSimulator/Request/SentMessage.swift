import NotificationModel

/// A message as FCM has understood it.
struct SentMessage: Sendable {
    /// What FCM allows for texts of data and notification, with their names, in bytes.
    static let maximumBytes = 4_096
    /// In seconds.
    static let longestLife = 2_419_200.0

    /// A token or an installation id.
    let target: String
    /// The path of the target's field.
    let targetField: String
    let isValidateOnly: Bool
    let data: [String: String]
    /// Of Android's notification, with `title` and `body` of the general one; nil for a data message.
    let notification: JSONValue?
    let isHighPriority: Bool
    /// In seconds.
    let timeToLive: Double
    let collapseKey: String?
    let package: String?
    /// As it came, for those who look at it.
    let json: JSONValue

    init(_ body: UnsafeRawBufferPointer) throws(FCMRefusal) {
        guard let parsed = try? JSONValue.parse(Array(body)) else {
            throw FCMRefusal(400, "INVALID_ARGUMENT", "Invalid JSON payload received.")
        }
        let request = try MessageForm.request.checked(parsed, "")
        guard let message = request["message"] else { throw .invalid("message", "Message is required.") }
        let targets = ["token", "fid", "topic", "condition"].filter { message[$0] != nil }
        guard targets.count == 1, let target = targets.first else {
            throw .invalid("message", "Exactly one of token, fid, topic and condition is required.")
        }
        guard ["token", "fid"].contains(target), let text = message[target]?.stringValue else {
            throw .invalid("message.\(target)", "The simulator has no topics.")
        }
        guard message["android"] == nil || message["androidV2"] == nil else {
            throw .invalid("message.android_v2", "android and android_v2 are mutually exclusive.")
        }
        let (v1, v2) = (message["android"], message["androidV2"])
        guard v2?["backgroundSync"] == nil || v2?["remoteNotification"] == nil else {
            throw .invalid("message.android_v2", "One of background_sync and remote_notification is allowed.")
        }
        let options = v1 ?? v2
        (self.target, targetField, json) = (text, "message.\(target)", message)
        isValidateOnly = request["validateOnly"]?.boolValue ?? false
        data = try Self.data(of: options?["data"] ?? message["data"])
        notification = v1?["notification"] ?? v2?["remoteNotification"]?["notification"] ?? message["notification"]
        isHighPriority = v1?["priority"]?.stringValue?.uppercased() == "HIGH" || v2?["remoteNotification"] != nil
        timeToLive = options?["ttl"]?.stringValue.flatMap { Double($0.dropLast()) } ?? Self.longestLife
        collapseKey = options?["collapseKey"]?.stringValue
        package = options?["restrictedPackageName"]?.stringValue
        let bytes = data.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count } + Self.bytes(notification)
        guard bytes <= Self.maximumBytes else {
            throw .invalid("message", "Android message is too big: \(bytes) bytes")
        }
    }

    private static func data(of value: JSONValue?) throws(FCMRefusal) -> [String: String] {
        var data: [String: String] = [:]
        for member in value?.objectValue ?? [] {
            let name = member.name
            guard !["from", "message_type"].contains(name), !name.hasPrefix("google."),
                !name.hasPrefix("gcm.notification.")
            else { throw .invalid("message.data", "Invalid data payload key: \(name)") }
            data[name] = member.value.stringValue
        }
        return data
    }

    private static func bytes(_ value: JSONValue?) -> Int {
        switch value {
        case .object(let members)?: members.reduce(0) { $0 + $1.name.utf8.count + bytes($1.value) }
        case .array(let values)?: values.reduce(0) { $0 + bytes($1) }
        case .string(let text)?: text.utf8.count
        case .number(let text)?: text.utf8.count
        default: 0
        }
    }
}
