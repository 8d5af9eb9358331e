import NotificationModel

/// A device with its apps.
public struct SimulatedDevice: Sendable {
    /// Pushes that it remembers; further ones push out the oldest.
    public static let rememberedPushes = 1_000
    /// Live Activities that it remembers.
    static let rememberedActivities = 100

    /// As it was registered.
    public let name: String
    /// Whether it has a connection to APNs.
    public private(set) var isOnline = true
    private var apps: [String: SimulatedApp] = [:]
    /// What APNs keeps for it while it is offline: the newest for each topic.
    private var stored: [String: Push] = [:]
    /// In the order of their start.
    public private(set) var activities: [LiveActivity] = []
    private var received: [ReceivedPush] = []
    /// Pushes that reached it, also those that it does not remember.
    public private(set) var receivedCount = 0
    /// Pushes that APNs dropped, because another one took their place or their time was over before it came online.
    public private(set) var droppedCount = 0

    init(name: String) { self.name = name }

    /// The bundle identifiers of its apps.
    public var bundleIdentifiers: [String] { apps.keys.sorted() }

    /// What an app shows, in the order in which it was shown.
    public func shown(by bundleIdentifier: String) -> [ShownNotification] { apps[bundleIdentifier]?.shown ?? [] }

    /// The number on an app's icon; 0 is none.
    public func badge(of bundleIdentifier: String) -> Int64 { apps[bundleIdentifier]?.badge ?? 0 }

    /// Whether the person has closed the app.
    public func isForceQuit(_ bundleIdentifier: String) -> Bool { apps[bundleIdentifier]?.isForceQuit ?? false }

    /// The pushes that reached it, the newest last, at most ``rememberedPushes``.
    public var pushes: [ReceivedPush] { received }

    /// `apns-id` of the pushes that APNs keeps for it, by topic.
    public var storedIDs: [String: String] { stored.mapValues(\.id) }

    // MARK: What happens to it

    mutating func install(_ bundleIdentifier: String) {
        if apps[bundleIdentifier] == nil { apps[bundleIdentifier] = SimulatedApp() }
    }

    /// The app, what it shows, its activities and what is stored for it are gone.
    mutating func uninstall(_ bundleIdentifier: String) {
        apps[bundleIdentifier] = nil
        activities.removeAll { PushType.bundleIdentifier(of: $0.topic) == bundleIdentifier }
        stored = stored.filter { PushType.bundleIdentifier(of: $0.key) != bundleIdentifier }
    }

    /// - Returns: False without such an app.
    mutating func setForceQuit(_ isForceQuit: Bool, _ bundleIdentifier: String) -> Bool {
        guard apps[bundleIdentifier] != nil else { return false }
        apps[bundleIdentifier]?.isForceQuit = isForceQuit
        return true
    }

    /// - Returns: False without such an app.
    mutating func setBadge(_ badge: Int, _ bundleIdentifier: String) -> Bool {
        guard apps[bundleIdentifier] != nil else { return false }
        apps[bundleIdentifier]?.badge = Int64(badge)
        return true
    }

    /// - Returns: False when no such app shows it.
    mutating func dismiss(_ identifier: String, from id: String?, of bundleIdentifier: String) -> Bool {
        apps[bundleIdentifier]?.dismiss(identifier, from: id) ?? false
    }

    mutating func goOffline() { isOnline = false }

    /// Comes online.
    ///
    /// - Returns: What APNs has stored and now delivers, the oldest first.
    mutating func goOnline(at now: Timestamp) -> [Push] {
        isOnline = true
        let waiting = stored.values.sorted { ($0.acceptedAt, $0.id) < ($1.acceptedAt, $1.id) }
        stored = [:]
        return waiting.filter { push in
            guard !push.headers.expiration.isOver(at: now, since: push.acceptedAt) else {
                droppedCount += 1
                return false
            }
            return true
        }
    }

    /// Keeps a push until the device comes online: one for each topic, unless it may be tried only once.
    mutating func store(_ push: Push) {
        if push.headers.expiration == .once {
            droppedCount += 1
        } else if stored.updateValue(push, forKey: push.headers.topic) != nil {
            droppedCount += 1
        }
    }

    /// A push reaches the device.
    ///
    /// - Parameter newActivity: Makes id and token of an activity that begins.
    mutating func receive(
        _ push: Push,
        at now: Timestamp,
        newActivity: () -> (id: String, token: String)
    ) {
        let effect = effect(of: push, at: now, newActivity)
        if received.count >= Self.rememberedPushes { received.removeFirst(Self.rememberedPushes / 10) }
        received.append(ReceivedPush(push, at: now, effect: effect))
        receivedCount += 1
    }

    private mutating func effect(
        of push: Push,
        at now: Timestamp,
        _ newActivity: () -> (id: String, token: String)
    ) -> ReceivedPush.Effect {
        if let problem = push.facts.problem(for: push.headers) { return .ignored(problem) }
        let bundleIdentifier = PushType.bundleIdentifier(of: push.headers.topic)
        switch push.headers.type {
        case .alert: return apps[bundleIdentifier, default: SimulatedApp()].show(push, at: now)
        case .background: return apps[bundleIdentifier, default: SimulatedApp()].run(push)
        case .liveactivity: return update(push, newActivity)
        case .complication, .controls, .fileprovider, .location, .mdm, .pushtotalk, .voip, .widgets: return .handed
        }
    }

    // MARK: Live Activities

    /// The app has begun an activity by itself.
    mutating func begin(_ activity: LiveActivity) {
        activities.removeAll { $0.id == activity.id }
        if activities.count >= Self.rememberedActivities {
            activities.remove(at: activities.firstIndex(where: \.hasEnded) ?? 0)
        }
        activities.append(activity)
    }

    private mutating func update(_ push: Push, _ newActivity: () -> (id: String, token: String)) -> ReceivedPush.Effect
    {
        let facts = push.facts.activity
        guard let event = facts.event, let timestamp = facts.timestamp else { return .ignored("no event") }
        guard event != .start else {
            guard push.activity == nil else { return .ignored("start needs a push-to-start token") }
            let new = newActivity()
            var activity = LiveActivity(
                id: new.id,
                topic: push.headers.topic,
                attributesType: facts.attributesType,
                token: new.token,
                channel: facts.channel
            )
            activity.take(facts, timestamp)
            begin(activity)
            return .activity
        }
        guard let id = push.activity else { return .ignored("\(event.rawValue) needs the token of an activity") }
        guard let index = activities.firstIndex(where: { $0.id == id }) else { return .ignored("no such activity") }
        guard !activities[index].hasEnded else { return .ignored("the activity has ended") }
        guard timestamp >= activities[index].timestamp ?? .min else {
            return .ignored("older than what the activity shows")
        }
        activities[index].take(facts, timestamp)
        return .activity
    }
}

extension LiveActivity {
    fileprivate mutating func take(_ facts: PayloadFacts.ActivityFacts, _ timestamp: Int64) {
        self.timestamp = timestamp
        contentState = facts.contentState ?? contentState
        staleDate = facts.staleDate
        dismissalDate = facts.dismissalDate
        hasEnded = facts.event == .end
    }
}
