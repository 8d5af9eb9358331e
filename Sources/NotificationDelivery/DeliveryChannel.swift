package import NotificationModel

/// A way to a person's devices. The center decides what is sent and when; a channel only performs the attempts.
///
/// An operation has an id that is the same for every attempt, and the key of its notification for collapsing: a channel
/// replaces by key, so a repeated send replaces itself.
///
/// Sends are side work of a lane (`SideWork`). The lane limits the concurrent sends, treats a send without an outcome
/// at its deadline as unanswered, and retries sends that failed temporarily. A channel is `Sendable` because several lanes use it.
package protocol DeliveryChannel: AnyObject {
    /// The value of `channel` in requests, settings and events.
    var name: ChannelName { get }

    /// How many sends of the process it can perform at one time, which the lanes share; nil for as many as the lanes
    /// allow.
    var concurrency: Int? { get }

    /// What it has to tell of itself; nil for a channel that never has anything.
    var changes: ChannelChanges? { get }

    /// Starts a send without waiting. The channel replies at most once, from any thread. It may leave the send until the next
    /// `flush`, which follows soon.
    func begin(_ send: Issued<ChannelSend>, _ reply: ChannelReply)

    /// Sends what was begun.
    func flush()

    /// The lane no longer waits for the outcome: the deadline has passed, or the lane gave up the partition. Do not
    /// send what is not on its way to the device yet: the next attempt or the next owner will send it.
    func cancel(_ reply: ChannelReply)

    /// Frees what the channel holds, after the last lane has ended.
    func close() async
}

extension DeliveryChannel {
    package var concurrency: Int? { nil }

    package var changes: ChannelChanges? { nil }

    package func flush() {}

    package func close() async {}
}

/// Receives the result of one attempt.
package typealias ChannelReply = SideWorkReply<ChannelResult>
