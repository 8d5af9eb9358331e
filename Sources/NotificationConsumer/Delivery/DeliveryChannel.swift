package import NotificationModel

/// A way to a person's devices. The center decides what is sent and when; a channel only performs the attempts.
///
/// A send has an id that is the same for every attempt, and the key of its notification for collapsing: a channel
/// replaces by key, so a repeated send replaces itself.
///
/// Sends are side work of a lane (`SideWork`). The lane limits the concurrent sends, treats a send without an outcome
/// at its deadline as failed, and retries failed sends. A channel is `Sendable` because several lanes use it.
package protocol DeliveryChannel: AnyObject {
    /// The value of `channel` in events.
    var name: String { get }

    /// Starts a send without waiting. The channel replies at most once, from any thread.
    func begin(_ send: ChannelSend, _ reply: ChannelReply)

    /// The lane no longer waits for the outcome: the deadline has passed, or the lane gave up the partition. Do not
    /// send what is not on its way to the device yet: the next attempt or the next owner will send it.
    func cancel(_ reply: ChannelReply)
}

/// Receives the outcome of one attempt.
package typealias ChannelReply = SideWorkReply<ChannelOutcome.Result>

/// One attempt at one notification.
package struct ChannelSend: Hashable, Sendable {
    /// The action on the device.
    package enum Kind: Hashable, Sendable {
        /// Shows the content, replacing what is shown under the key.
        case deliver(content: ArraySlice<UInt8>)
        /// Removes what is shown under the key.
        case recall
    }

    /// Equal for every attempt at this occurrence: derived, not random.
    package var id: SendID
    package var key: NotificationKey
    package var kind: Kind
    /// From 1.
    package var attempt: Int
    /// Identifies the instance of the partition's center that sends; an outcome for another instance is late and
    /// ignored.
    package var assignmentID: UInt64
    package var partition: Int32
}

extension ChannelSend {
    init(_ attempt: SendAttempt, assignmentID: UInt64, partition: Int32) {
        self.init(
            id: attempt.id,
            key: attempt.key,
            kind: attempt.kind,
            attempt: attempt.number,
            assignmentID: assignmentID,
            partition: partition
        )
    }
}

/// Identifies a send: the request and, for a repeating one, its occurrence.
package struct SendID: Hashable, Sendable {
    package var requestID: RequestID
    package var occurrence: Timestamp?

    package init(requestID: RequestID, occurrence: Timestamp?) {
        (self.requestID, self.occurrence) = (requestID, occurrence)
    }
}

/// The outcome of one attempt.
package struct ChannelOutcome: Hashable, Sendable {
    package enum Result: Hashable, Sendable {
        case accepted
        /// Rejected permanently.
        case rejected(ReasonCode)
        /// Failed temporarily; the channel may request a pause, in milliseconds.
        case failed(retryAfter: Int64?)
    }

    package var send: ChannelSend
    package var result: Result

    package init(send: ChannelSend, result: Result) {
        (self.send, self.result) = (send, result)
    }
}
