import NotificationModel
import PushSimulation

/// Everything that the push service knows, without its connections: a value that answers browsers and senders.
struct PushServiceState: Sendable {
    /// More are refused.
    static let mostBrowsers = 10_000
    /// Of one browser; more are refused.
    static let mostSubscriptions = 100
    /// Messages that wait for a browser; further ones are refused.
    static let mostWaiting = 100
    /// What browsers have said of messages, and senders' messages, that is remembered.
    static let remembered = 1_000

    /// A browser, by the id that it was given (`uaid`).
    struct Browser: Sendable {
        /// The number of its connection; nil while it has none.
        var connection: Int?
        /// By channel.
        var subscriptions: [String: String] = [:]
        /// In the order in which they came.
        var waiting: [Message] = []
        /// The newest last: the id of a message, and the code that the browser acknowledged it with; 100 is good.
        var acknowledged: [(message: String, code: Int64)] = []
    }

    struct Subscription: Sendable {
        var browser: String
        var channel: String
        /// The sender's public key that the page has named, a point on P-256; nil for any sender.
        var key: [UInt8]?
        /// Whether the page has unsubscribed.
        var isGone = false
    }

    struct Message: Sendable {
        var id: String
        var channel: String
        var topic: String?
        var body: [UInt8]
        /// Milliseconds since 1970.
        var expiration: Int64
    }

    /// A message for a connection.
    typealias Outgoing = (connection: Int, message: ServerMessage)

    private(set) var browsers: [String: Browser] = [:]
    /// By the last part of their endpoints.
    private(set) var subscriptions: [String: Subscription] = [:]
    private(set) var statistics = WebPushStatistics()
    private var generator: SplitMix64

    /// - Parameter seed: of ids.
    init(seed: UInt64) { generator = SplitMix64(seed: seed) }

    private mutating func id() -> String {
        (0..<2).map { _ in
            let text = String(generator.next(), radix: 16)
            return String(repeating: "0", count: 16 - text.count) + text
        }.joined()
    }

    // MARK: - Browsers

    /// Answers a message of a browser.
    ///
    /// - Parameters:
    ///   - connection: its number.
    ///   - uaid: who it has said that it is, on this connection.
    ///   - endpoint: makes the address of a subscription.
    mutating func receive(
        _ message: BrowserMessage,
        on connection: Int,
        _ uaid: inout String?,
        at now: Timestamp,
        endpoint: (String) -> String
    ) -> [ServerMessage] {
        switch message {
        case .ping: return [.ping]
        case .hello(let claimed):
            guard browsers.count < Self.mostBrowsers else { return [.hello(uaid: "", status: 503)] }
            // Who is not known begins again, and subscribes again.
            let own = claimed.flatMap { browsers[$0] == nil ? nil : $0 } ?? id()
            browsers[own, default: Browser()].connection = connection
            uaid = own
            return [.hello(uaid: own, status: 200)] + waiting(own, at: now)
        case .register(let channel, let key):
            guard let own = uaid, let browser = browsers[own] else { return [] }
            guard browser.subscriptions.count < Self.mostSubscriptions else {
                return [.register(channel: channel, status: 500, endpoint: nil)]
            }
            let name = browser.subscriptions[channel] ?? id()
            browsers[own]?.subscriptions[channel] = name
            subscriptions[name] = Subscription(browser: own, channel: channel, key: key)
            return [.register(channel: channel, status: 200, endpoint: endpoint(name))]
        case .unregister(let channel):
            guard let own = uaid else { return [] }
            if let name = browsers[own]?.subscriptions.removeValue(forKey: channel) {
                subscriptions[name]?.isGone = true
            }
            browsers[own]?.waiting.removeAll { $0.channel == channel }
            return [.unregister(channel: channel)]
        case .acknowledge(let updates):
            guard let own = uaid else { return [] }
            for (message, code) in updates {
                guard browsers[own]?.waiting.contains(where: { $0.id == message }) == true else { continue }
                browsers[own]?.waiting.removeAll { $0.id == message }
                browsers[own]?.acknowledged.append((message, code))
                if code != 100 { statistics.unreadable += 1 }
            }
            let surplus = max(0, (browsers[own]?.acknowledged.count ?? 0) - Self.remembered)
            browsers[own]?.acknowledged.removeFirst(surplus)
            return []
        case .other: return []
        }
    }

    mutating func disconnected(_ connection: Int, _ uaid: String?) {
        guard let uaid, browsers[uaid]?.connection == connection else { return }
        browsers[uaid]?.connection = nil
    }

    private mutating func waiting(_ uaid: String, at now: Timestamp) -> [ServerMessage] {
        browsers[uaid]?.waiting.removeAll { $0.expiration <= now.rawValue }
        return (browsers[uaid]?.waiting ?? []).map(ServerMessage.notification)
    }

    /// The subscription ends, as when the person forbids notifications.
    ///
    /// - Returns: false when there is none.
    mutating func end(_ name: String) -> Bool {
        guard let subscription = subscriptions[name], !subscription.isGone else { return false }
        subscriptions[name]?.isGone = true
        browsers[subscription.browser]?.subscriptions[subscription.channel] = nil
        return true
    }

    // MARK: - Senders

    /// A message of a sender (RFC 8030, 5).
    ///
    /// - Returns: its id, the time that it is kept, and what goes to a connection.
    mutating func push(
        _ push: SentPush,
        to name: String,
        audience: String,
        at now: Timestamp
    ) throws(PushRefusal) -> (id: String, timeToLive: Int64, outgoing: Outgoing?) {
        statistics.requests += 1
        do throws(PushRefusal) {
            guard let subscription = subscriptions[name] else { throw .unknown }
            guard !subscription.isGone, let browser = browsers[subscription.browser] else { throw .gone }
            let checked = try push.checked(for: subscription.key, audience: audience, at: now)
            let message = Message(
                id: id(),
                channel: subscription.channel,
                topic: checked.topic,
                body: push.body,
                expiration: now.rawValue + checked.timeToLive * 1_000
            )
            statistics.accepted += 1
            guard browser.connection != nil || checked.timeToLive > 0 else { return (message.id, 0, nil) }
            // RFC 8030, 5.4: it takes the place of the one that was not delivered yet.
            if let topic = message.topic {
                browsers[subscription.browser]?.waiting.removeAll { $0.topic == topic && $0.channel == message.channel }
            }
            guard browsers[subscription.browser]?.waiting.count ?? 0 < Self.mostWaiting else { throw .full }
            browsers[subscription.browser]?.waiting.append(message)
            return (message.id, checked.timeToLive, browser.connection.map { ($0, .notification(message)) })
        } catch {
            statistics.refused[error.number, default: 0] += 1
            throw error
        }
    }

    /// Takes back a message that no browser has acknowledged (RFC 8030, 6.2).
    ///
    /// - Returns: false when there is none, or not any more.
    mutating func delete(_ message: String) -> Bool {
        for (uaid, browser) in browsers where browser.waiting.contains(where: { $0.id == message }) {
            browsers[uaid]?.waiting.removeAll { $0.id == message }
            statistics.deleted += 1
            return true
        }
        return false
    }
}

/// What the push service has counted since it began.
public struct WebPushStatistics: Sendable, Hashable {
    /// Messages that senders have sent.
    public internal(set) var requests = 0
    /// Those that were accepted.
    public internal(set) var accepted = 0
    /// The others, by the number of the error as Mozilla's service has them.
    public internal(set) var refused: [Int: Int] = [:]
    /// Messages that a browser could not read, although their sender had been told that all is well.
    public internal(set) var unreadable = 0
    /// Messages that their sender has taken back.
    public internal(set) var deleted = 0
}
