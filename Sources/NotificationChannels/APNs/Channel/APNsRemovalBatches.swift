import NotificationDelivery
import NotificationModel

/// Removals that wait to share a push: a device gets only a few pushes in the background an hour. A value.
struct APNsRemovalBatches: Sendable {
    /// Removals for one device.
    struct Batch: Sendable {
        /// Of the first one.
        let send: ChannelSend
        let registration: DeviceRegistration
        var items: [APNsRemoval.Item] = []
        var replies: [ChannelReply] = []
    }

    /// How long the first one of a device waits for others, in milliseconds.
    static let window: Int64 = 500

    private var batches: [String: Batch] = [:]

    /// Adds a removal to those of its device.
    ///
    /// - Returns: whether it is the first one: after the window, `take` must be called for the token.
    mutating func add(_ send: ChannelSend, _ registration: DeviceRegistration, _ reply: ChannelReply) -> Bool {
        var batch = batches[registration.token] ?? Batch(send: send, registration: registration)
        let isFirst = batch.items.isEmpty
        batch.items.append(.init(key: send.key, sequence: send.sequence))
        batch.replies.append(reply)
        batches[registration.token] = batch
        return isFirst
    }

    /// Whether the removals of a device fill a push.
    func isFull(_ token: String) -> Bool { (batches[token]?.items.count ?? 0) >= APNsRemoval.maximumItems }

    mutating func take(_ token: String) -> Batch? { batches.removeValue(forKey: token) }

    /// Nobody waits for a removal any more.
    ///
    /// - Returns: whether it waited here.
    mutating func cancel(_ reply: ChannelReply) -> Bool {
        for (token, batch) in batches {
            guard let place = batch.replies.firstIndex(of: reply) else { continue }
            batches[token]?.items.remove(at: place)
            batches[token]?.replies.remove(at: place)
            if batch.replies.count == 1 { batches[token] = nil }
            return true
        }
        return false
    }
}
