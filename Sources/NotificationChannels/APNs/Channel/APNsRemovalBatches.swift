import NotificationDelivery
import NotificationModel

/// Removals that wait to share a push: a device gets only a few pushes in the background an hour. A value.
struct APNsRemovalBatches: Sendable {
    /// Removals for one device.
    struct Batch: Sendable {
        /// Of the first one.
        let send: Issued<ChannelSend>
        let registration: DeviceRegistration
        var items: [APNsRemoval.Item] = []
        var replies: [ChannelReply] = []
    }

    /// How long the first one of a device waits for others, in milliseconds.
    static let window: Int64 = 500

    /// A device of an application.
    struct Device: Hashable, Sendable {
        let application: ExactText
        let token: String

        init(_ send: ChannelSend, _ registration: DeviceRegistration) {
            (application, token) = (ExactText(send.key.application), registration.token)
        }
    }

    /// What follows.
    enum Next: Sendable {
        /// The push waits for the others that are to share it.
        case wait
        /// It is the first one: after the window, `take` must be called.
        case begin
        /// The push is full.
        case send(Batch)
    }

    private var batches: [Device: Batch] = [:]

    /// Adds a removal to those of its device.
    mutating func add(_ send: Issued<ChannelSend>, _ registration: DeviceRegistration, _ reply: ChannelReply) -> Next {
        let device = Device(send.work, registration)
        var batch = batches[device] ?? Batch(send: send, registration: registration)
        batch.items.append(.init(key: send.work.key, sequence: send.work.sequence))
        batch.replies.append(reply)
        guard batch.items.count < APNsRemoval.maximumItems else {
            batches[device] = nil
            return .send(batch)
        }
        batches[device] = batch
        return batch.items.count == 1 ? .begin : .wait
    }

    mutating func take(_ device: Device) -> Batch? { batches.removeValue(forKey: device) }

    /// Nobody waits for a removal any more.
    mutating func cancel(_ reply: ChannelReply) {
        for (device, batch) in batches {
            guard let place = batch.replies.firstIndex(of: reply) else { continue }
            batches[device]?.items.remove(at: place)
            batches[device]?.replies.remove(at: place)
            if batch.replies.count == 1 { batches[device] = nil }
            return
        }
    }
}
