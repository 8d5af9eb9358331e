import NotificationModel
import Synchronization

/// A key, and what is known of the push services that it signs for.
final class WebPushSender: Sendable {
    let key: VAPIDKey
    let origins = Mutex(PushOrigins())

    init(_ key: VAPIDKey) { self.key = key }

    /// The value of `authorization` for an origin. Signs about every six hours, under the lock, so that everyone gets the same.
    ///
    /// - Returns: Nil when OpenSSL cannot sign.
    func authorization(for origin: String, at now: Timestamp) -> String? {
        origins.withLock { origins in
            origins.authorization(for: origin, at: now) { key.authorization(for: origin, until: $0) }
        }
    }
}

/// The applications with their keys; those with the same key share what is known of push services.
struct WebPushSenders: Sendable {
    struct Route: Sendable {
        let application: WebPushApplication
        let sender: WebPushSender
    }

    private var routes: [ExactText: Route] = [:]
    private(set) var all: [WebPushSender] = []

    /// Puts other applications in the place of these. What has the same key keeps its tokens.
    mutating func use(_ applications: WebPushApplications) {
        var (senders, routes): ([WebPushSender], [ExactText: Route]) = ([], [:])
        for (name, application) in applications.byName {
            func isSame(_ sender: WebPushSender) -> Bool { sender.key.isSame(as: application.key) }
            let sender: WebPushSender
            if let known = senders.first(where: isSame) {
                sender = known
            } else {
                sender = all.first(where: isSame) ?? WebPushSender(application.key)
                senders.append(sender)
            }
            routes[name] = Route(application: application, sender: sender)
        }
        (all, self.routes) = (senders, routes)
    }

    var count: Int { routes.count }

    /// - Parameter name: of an application.
    subscript(name: String) -> Route? { routes[ExactText(name)] }

    /// The applications of a key.
    func names(of sender: WebPushSender) -> [String] {
        routes.compactMap { $0.value.sender === sender ? $0.key.text : nil }.sorted()
    }

    /// How many push services have refused a key.
    var stopped: Int { all.reduce(0) { $0 + $1.origins.withLock(\.stopped) } }

    /// For people: a push service that has refused a key; nil when there is none.
    var summary: String? {
        all.lazy.compactMap { $0.origins.withLock(\.summary) }.first.map { "a push service refuses a key: \($0)" }
    }
}
