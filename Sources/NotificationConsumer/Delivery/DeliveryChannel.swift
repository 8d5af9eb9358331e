package import NotificationModel

/// A way to a person's devices. The centre decides what is sent and when; a channel only tries.
///
/// A send carries an id that is the same however often it is repeated, and the key of its notification to collapse by: a
/// channel replaces by the key, so a repeat replaces itself.
///
/// Sends are side work of a lane (`SideWork`): the lane begins so many at a time, answers for the channel what has no
/// outcome by its deadline, and tries again what failed. A channel that several lanes use is `Sendable`.
package protocol DeliveryChannel: AnyObject {
    /// As `channel` in events.
    var name: String { get }

    /// Begins to send; does not wait. The channel replies once, from any thread, or never.
    func begin(_ send: ChannelSend, _ reply: ChannelReply)

    /// The outcome is not awaited any more: its deadline has passed, or the lane let the partition go. What is not under way
    /// to the device is not to be sent: the next attempt, or the next owner, comes.
    func cancel(_ reply: ChannelReply)
}

/// Takes the outcome of one attempt.
package typealias ChannelReply = SideWorkReply<ChannelOutcome.Result>

/// One attempt at one notification.
package struct ChannelSend: Hashable, Sendable {
    /// What is asked of the device.
    package enum Kind: Hashable, Sendable {
        /// Shows the content, in place of what the key has shown before.
        case deliver(content: ArraySlice<UInt8>)
        /// Takes back what the key has shown.
        case recall
    }

    /// The same for every attempt at this occurrence: derived, not random.
    package var id: SendID
    package var key: NotificationKey
    package var kind: Kind
    /// From 1.
    package var attempt: Int
    /// The life of the partition's centre that asks; an outcome of another one is late and counts for nothing.
    package var epoch: UInt64
    package var partition: Int32
}

extension ChannelSend {
    init(_ attempt: SendAttempt, epoch: UInt64, partition: Int32) {
        self.init(
            id: attempt.id,
            key: attempt.key,
            kind: attempt.kind,
            attempt: attempt.number,
            epoch: epoch,
            partition: partition
        )
    }
}

/// What names a send: the request and, of a repeat, its occurrence.
package struct SendID: Hashable, Sendable {
    package var requestID: RequestID
    package var occurrence: Timestamp?

    package init(requestID: RequestID, occurrence: Timestamp?) {
        (self.requestID, self.occurrence) = (requestID, occurrence)
    }
}

/// What became of one attempt.
package struct ChannelOutcome: Hashable, Sendable {
    package enum Result: Hashable, Sendable {
        case accepted
        /// No, for good.
        case rejected(ReasonCode)
        /// Not now; the channel may ask for a pause, in milliseconds.
        case failed(retryAfter: Int64?)
    }

    package var send: ChannelSend
    package var result: Result

    package init(send: ChannelSend, result: Result) {
        (self.send, self.result) = (send, result)
    }
}
