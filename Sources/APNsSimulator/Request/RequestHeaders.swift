import NotificationModel

/// The header fields of a request that APNs knows, unread.
struct RequestHeaders: Sendable {
    var method = ""
    var path = ""
    var authorization: String?
    var topic: String?
    var pushType: String?
    var id: String?
    var expiration: String?
    var priority: String?
    var collapseID: String?
    var channelID: String?
    var requestID: String?
    /// Whether one of them came twice.
    var hasDuplicates = false

    /// - Parameter fields: Names in lower case, as in HTTP/2.
    init(_ fields: some Sequence<(String, String)>) {
        for (name, value) in fields { add(name, value) }
    }

    init() {}

    mutating func add(_ name: String, _ value: String) {
        switch name {
        case ":method": method = value
        case ":path": path = value
        case "authorization": Self.set(&authorization, value, &hasDuplicates)
        case "apns-topic": Self.set(&topic, value, &hasDuplicates)
        case "apns-push-type": Self.set(&pushType, value, &hasDuplicates)
        case "apns-id": Self.set(&id, value, &hasDuplicates)
        case "apns-expiration": Self.set(&expiration, value, &hasDuplicates)
        case "apns-priority": Self.set(&priority, value, &hasDuplicates)
        case "apns-collapse-id": Self.set(&collapseID, value, &hasDuplicates)
        case "apns-channel-id": Self.set(&channelID, value, &hasDuplicates)
        case "apns-request-id": Self.set(&requestID, value, &hasDuplicates)
        default: break
        }
    }

    private static func set(_ field: inout String?, _ value: String, _ hasDuplicates: inout Bool) {
        if field != nil { hasDuplicates = true }
        field = value
    }
}

/// What a request asks for, by its method and path.
enum RequestTarget: Hashable, Sendable {
    /// A push to a device; the token as it came.
    case push(token: Substring)
    /// A push to all that subscribe to a channel.
    case broadcast(bundleIdentifier: Substring)
    case channel(ChannelOperation, bundleIdentifier: Substring)

    enum ChannelOperation: Hashable, Sendable { case create, read, delete, list }

    init(_ headers: RequestHeaders) throws(Refusal) {
        let path = headers.path[...]
        if let token = path.remainder(after: "/3/device/") {
            guard headers.method == "POST" else { throw Refusal(.methodNotAllowed) }
            guard !token.isEmpty else { throw Refusal(.missingDeviceToken) }
            self = .push(token: token)
        } else if let bundle = path.remainder(after: "/4/broadcasts/apps/"), Self.isOneSegment(bundle) {
            guard headers.method == "POST" else { throw Refusal(.methodNotAllowed) }
            self = .broadcast(bundleIdentifier: bundle)
        } else if let rest = path.remainder(after: "/1/apps/") {
            let segments = rest.split(separator: "/", omittingEmptySubsequences: false)
            guard segments.count == 2, !segments[0].isEmpty else { throw Refusal(.badPath) }
            let operation: ChannelOperation
            switch (segments[1], headers.method) {
            case ("channels", "POST"): operation = .create
            case ("channels", "GET"): operation = .read
            case ("channels", "DELETE"): operation = .delete
            case ("all-channels", "GET"): operation = .list
            case ("channels", _), ("all-channels", _): throw Refusal(.methodNotAllowed)
            default: throw Refusal(.badPath)
            }
            self = .channel(operation, bundleIdentifier: segments[0])
        } else {
            throw Refusal(.badPath)
        }
    }

    private static func isOneSegment(_ text: Substring) -> Bool { !text.isEmpty && !text.utf8.contains(0x2F) }
}

/// A refused request.
struct Refusal: Error, Hashable, Sendable {
    var reason: APNsReason
    /// When APNs learnt that the token ended: only with 410.
    var timestamp: Timestamp?

    init(_ reason: APNsReason, timestamp: Timestamp? = nil) { (self.reason, self.timestamp) = (reason, timestamp) }
}

extension Substring {
    /// What follows a prefix, compared byte by byte; nil without it.
    fileprivate func remainder(after prefix: StaticString) -> Substring? {
        let bytes = UnsafeBufferPointer(start: prefix.utf8Start, count: prefix.utf8CodeUnitCount)
        guard utf8.starts(with: bytes) else { return nil }
        return Substring(utf8.dropFirst(bytes.count))
    }
}
