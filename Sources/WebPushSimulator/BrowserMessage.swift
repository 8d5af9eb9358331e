import NotificationModel
import ServiceHTTP

/// What a browser says: the protocol of Mozilla's push service, JSON over a WebSocket.
enum BrowserMessage: Sendable {
    case hello(uaid: String?)
    case register(channel: String, key: [UInt8]?)
    case unregister(channel: String)
    case acknowledge([(message: String, code: Int64)])
    case ping
    /// What nothing follows from, such as a report of errors.
    case other

    /// Nil for what is no message.
    init?(_ text: [UInt8]) {
        guard let value = try? JSONValue.parse(text, maximumDepth: 8), let members = value.objectValue else {
            return nil
        }
        guard !members.isEmpty else {
            self = .ping
            return
        }
        let channel = value["channelID"]?.stringValue.flatMap { (1...100).contains($0.utf8.count) ? $0 : nil }
        switch (value["messageType"]?.stringValue, channel) {
        case ("hello", _): self = .hello(uaid: value["uaid"]?.stringValue)
        case ("register", let channel?):
            guard let text = value["key"]?.stringValue else {
                self = .register(channel: channel, key: nil)
                return
            }
            // Firefox pads it. A point on P-256 has 65 bytes.
            var digits = text.utf8[...]
            while digits.last == UInt8(ascii: "=") { digits.removeLast() }
            guard let key = Base64URL.decode(digits), key.count == 65 else { return nil }
            self = .register(channel: channel, key: key)
        case ("unregister", let channel?): self = .unregister(channel: channel)
        case ("ack", _):
            let updates = value["updates"]?.arrayValue ?? []
            self = .acknowledge(
                updates.compactMap { update in
                    update["version"]?.stringValue.map { ($0, update["code"]?.integerValue ?? 100) }
                }
            )
        case ("ping", _): self = .ping
        case (_?, _): self = .other
        case (nil, _): return nil
        }
    }
}

/// What the push service says to a browser.
enum ServerMessage: Sendable {
    case hello(uaid: String, status: Int)
    case register(channel: String, status: Int, endpoint: String?)
    case unregister(channel: String)
    case notification(PushServiceState.Message)
    case ping

    var json: [UInt8] {
        var members: [JSONValue.Member] = []
        func add(_ name: String, _ value: JSONValue) { members.append(.init(name, value)) }
        switch self {
        case .hello(let uaid, let status):
            add("messageType", .string("hello"))
            add("uaid", .string(uaid))
            add("status", .number("\(status)"))
            add("use_webpush", .bool(true))
            add("broadcasts", .object([]))
        case .register(let channel, let status, let endpoint):
            add("messageType", .string("register"))
            add("channelID", .string(channel))
            add("status", .number("\(status)"))
            if let endpoint { add("pushEndpoint", .string(endpoint)) }
        case .unregister(let channel):
            add("messageType", .string("unregister"))
            add("channelID", .string(channel))
            add("status", .number("200"))
        case .notification(let message):
            add("messageType", .string("notification"))
            add("channelID", .string(message.channel))
            add("version", .string(message.id))
            if !message.body.isEmpty {
                add("data", .string(Base64URL.encode(message.body)))
                add("headers", .object([.init("encoding", .string(SentPush.encoding))]))
            }
        case .ping: break
        }
        return JSONValue.object(members).json
    }
}
