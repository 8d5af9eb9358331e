import HTTPTypes

/// What a path names: the label `route` of what is measured.
enum Route: String, CaseIterable, Sendable {
    case events = "/v1/events"
    case notifications = "/v1/recipients/{recipient}/notifications"
    case notification = "/v1/recipients/{recipient}/notifications/{identifier}"
    /// Nothing.
    case other

    init(_ path: [Substring]) {
        guard path.first == "v1" else {
            self = .other
            return
        }
        switch path.count {
        case 2 where path[1] == "events": self = .events
        case 4 where path[1] == "recipients" && path[3] == "notifications": self = .notifications
        case 5 where path[1] == "recipients" && path[3] == "notifications": self = .notification
        default: self = .other
        }
    }

    /// Those that it takes.
    var methods: [HTTPRequest.Method] {
        switch self {
        case .events: [.post]
        case .notifications: [.post, .delete]
        case .notification: [.put, .delete]
        case .other: []
        }
    }
}
