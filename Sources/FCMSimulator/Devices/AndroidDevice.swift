public import NotificationModel

/// A device with its apps.
public struct AndroidDevice: Sendable {
    /// Messages that it remembers; further ones push out the oldest.
    public static let rememberedMessages = 1_000
    /// Notifications that an app shows; further ones push out the oldest.
    static let shownNotifications = 1_000
    /// Messages that FCM keeps for a device that is offline: at more it drops all of them.
    public static let storedMessages = 100
    /// Collapse keys that FCM keeps for a device.
    public static let storedCollapseKeys = 4

    /// A notification that is shown.
    public struct Shown: Sendable, Hashable {
        /// What replaces it has the same.
        public let tag: String
        /// Nil without one, or where the device puts it together.
        public let title: String?
        /// Likewise.
        public let body: String?
        /// Of Android's notification, or the content that the app shows, JSON.
        public let content: [UInt8]
        /// Of Carillon's operation.
        public let sequence: String?
        /// `carillon` of the data, JSON.
        public let origin: [UInt8]?
    }

    /// A message that has reached it.
    public struct Received: Sendable, Hashable {
        /// As it was sent, JSON.
        public let message: [UInt8]
        /// The app that got it.
        public let package: String
        /// Whether it came at once, also to a device that sleeps.
        public let isHighPriority: Bool
        /// By the simulator's clock.
        public let receivedAt: Timestamp
    }

    struct Stored: Sendable {
        var message: SentMessage
        var package: String
        /// Milliseconds since 1970.
        var expiration: Int64
    }

    /// As it was registered.
    public let name: String
    /// Whether it has a connection to FCM.
    public private(set) var isOnline = true
    private var apps: [String: [Shown]] = [:]
    private var stored: [Stored] = []
    /// The messages that reached it, the newest last, at most ``rememberedMessages``.
    public private(set) var received: [Received] = []
    /// Messages that FCM dropped: their time was over, others took their place, or there were too many.
    public private(set) var droppedCount = 0
    /// Tags without one are numbers.
    private var untagged = 0

    init(name: String) { self.name = name }

    /// The package names of its apps.
    public var packages: [String] { apps.keys.sorted() }

    /// What an app shows, in the order in which it was shown.
    public func shown(by package: String) -> [Shown] { apps[package] ?? [] }

    /// How many messages FCM keeps for it.
    public var storedCount: Int { stored.count }

    mutating func install(_ package: String) { if apps[package] == nil { apps[package] = [] } }

    /// The app, what it shows and what is stored for it are gone.
    mutating func uninstall(_ package: String) {
        apps[package] = nil
        stored.removeAll { $0.package == package }
    }

    /// - Returns: False when no such app shows it.
    mutating func dismiss(_ tag: String, of package: String) -> Bool {
        guard let index = apps[package]?.firstIndex(where: { $0.tag == tag }) else { return false }
        apps[package]?.remove(at: index)
        return true
    }

    mutating func setOnline(_ isOnline: Bool, at now: Timestamp) {
        self.isOnline = isOnline
        guard isOnline else { return }
        for message in stored {
            if message.expiration > now.rawValue {
                receive(message.message, for: message.package, at: now)
            } else {
                droppedCount += 1
            }
        }
        stored = []
    }

    /// A message that FCM has accepted.
    mutating func deliver(_ message: SentMessage, for package: String, at now: Timestamp) {
        guard !isOnline else { return receive(message, for: package, at: now) }
        guard message.timeToLive >= 1 else { return droppedCount += 1 }
        if let key = message.collapseKey {
            let before = stored.count
            stored.removeAll { $0.message.collapseKey == key && $0.package == package }
            droppedCount += before - stored.count
            let keys = Set(stored.compactMap(\.message.collapseKey))
            if keys.count >= Self.storedCollapseKeys,
                let oldest = stored.first(where: { $0.message.collapseKey != nil })
            {
                stored.removeAll { $0.message.collapseKey == oldest.message.collapseKey }
                droppedCount += 1
            }
        } else if stored.count(where: { $0.message.collapseKey == nil }) >= Self.storedMessages {
            droppedCount += stored.count
            stored = []
        }
        let expiration = now.rawValue + Int64(message.timeToLive * 1_000)
        stored.append(Stored(message: message, package: package, expiration: expiration))
    }

    private mutating func receive(_ message: SentMessage, for package: String, at now: Timestamp) {
        received.append(
            Received(
                message: message.json.json,
                package: package,
                isHighPriority: message.isHighPriority,
                receivedAt: now
            )
        )
        if received.count > Self.rememberedMessages { received.removeFirst() }
        let own = message.data["carillon"].flatMap { try? JSONValue.parse(Array($0.utf8)) }
        if let notification = message.notification {
            show(notification, tag: notification["tag"]?.stringValue, own, package)
        } else if let content = own?["content"] {
            // What an app of Carillon does with a data message.
            show(content, tag: own?["tag"]?.stringValue, own, package)
        }
        for member in own?["remove"]?.objectValue ?? [] {
            apps[package]?.removeAll { shown in
                shown.tag == member.name && shown.sequence ?? "" <= member.value.stringValue ?? ""
            }
        }
    }

    private mutating func show(_ content: JSONValue, tag: String?, _ own: JSONValue?, _ package: String) {
        untagged += 1
        let tag = tag ?? "\(untagged)"
        let shown = Shown(
            tag: tag,
            title: content["title"]?.stringValue,
            body: content["body"]?.stringValue,
            content: content.json,
            sequence: own?["sequence"]?.stringValue,
            origin: own?.json
        )
        apps[package]?.removeAll { $0.tag == tag }
        apps[package]?.append(shown)
        if let count = apps[package]?.count, count > Self.shownNotifications { apps[package]?.removeFirst() }
    }
}
