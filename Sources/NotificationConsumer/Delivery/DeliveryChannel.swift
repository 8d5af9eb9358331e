package import NotificationModel

/// A way to a person's devices. The center decides what is sent and when; a channel only performs the attempts.
///
/// A send has an id that is the same for every attempt, and the key of its notification for collapsing: a channel
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

    /// Starts a send without waiting. The channel replies at most once, from any thread.
    func begin(_ send: ChannelSend, _ reply: ChannelReply)

    /// The lane no longer waits for the outcome: the deadline has passed, or the lane gave up the partition. Do not
    /// send what is not on its way to the device yet: the next attempt or the next owner will send it.
    func cancel(_ reply: ChannelReply)

    /// Frees what the channel holds, after the last lane has ended.
    func close() async
}

extension DeliveryChannel {
    package var concurrency: Int? { nil }

    package func close() async {}
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
    /// The trace of the request record.
    package var trace: CarriedTrace
    /// Whether the request closes with this send; false for one occurrence of a repeat.
    package var closes: Bool
    /// An earlier attempt, perhaps of a previous owner of the partition, may have reached a device.
    package var isInDoubt: Bool
    /// After this instant the attempt must not begin.
    package var expiration: Timestamp?
    /// The devices that it is for, and its category; nil when none is known.
    package var addressees: StateEntry.Sending.Addressees?

    package init(
        id: SendID,
        key: NotificationKey,
        kind: Kind,
        attempt: Int,
        assignmentID: UInt64,
        partition: Int32,
        trace: CarriedTrace = .none,
        closes: Bool = true,
        isInDoubt: Bool = false,
        expiration: Timestamp? = nil,
        addressees: StateEntry.Sending.Addressees? = nil
    ) {
        self.addressees = addressees
        (self.id, self.key, self.kind, self.attempt) = (id, key, kind, attempt)
        (self.assignmentID, self.partition) = (assignmentID, partition)
        (self.trace, self.closes, self.isInDoubt, self.expiration) = (trace, closes, isInDoubt, expiration)
    }
}

extension ChannelSend {
    init(_ attempt: SendAttempt, assignmentID: UInt64, partition: Int32) {
        self.init(
            id: attempt.id,
            key: attempt.key,
            kind: attempt.kind,
            attempt: attempt.number,
            assignmentID: assignmentID,
            partition: partition,
            trace: attempt.trace,
            closes: attempt.closes,
            isInDoubt: attempt.isInDoubt,
            expiration: attempt.expiration,
            addressees: attempt.addressees
        )
    }

    /// Which of the sends that wait for the channel goes first: by interruption level.
    var priority: WorkPriority {
        guard case .deliver(let content) = kind else { return .normal }
        return switch InterruptionLevel(ofContent: content) {
        case .critical, .timeSensitive: .high
        case .active, nil: .normal
        case .passive: .low
        }
    }
}

/// Identifies a send: the request and, for a repeating one, its occurrence.
package struct SendID: Hashable, Sendable {
    package var requestID: RequestID
    package var occurrence: Timestamp?

    package init(requestID: RequestID, occurrence: Timestamp?) {
        (self.requestID, self.occurrence) = (requestID, occurrence)
    }

    /// A number that only the send, the purpose and the seed decide, so that a replay or another owner draws the same.
    package func draw(_ purpose: String, seed: UInt64 = 0) -> UInt64 {
        // FNV-1a, and the end of SplitMix64, which spreads what differs in the last bytes only.
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325 ^ seed
        for byte in "\(requestID)\n\(occurrence?.rawValue ?? 0)\n\(purpose)".utf8 {
            hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
        }
        hash = (hash ^ (hash >> 30)) &* 0xbf58_476d_1ce4_e5b9
        hash = (hash ^ (hash >> 27)) &* 0x94d0_49bb_1331_11eb
        return hash ^ (hash >> 31)
    }
}

/// The outcome of one attempt.
package struct ChannelOutcome: Hashable, Sendable {
    package enum Result: Hashable, Sendable {
        case accepted
        /// Rejected permanently.
        case rejected(ReasonCode)
        /// Failed temporarily, and has not reached a device; the channel may request a pause, in milliseconds.
        case failed(retryAfter: Int64?)
        /// Nothing is known: it may have reached a device.
        case unanswered(retryAfter: Int64?)
        /// Not tried, so that it does not count as an attempt.
        case deferred(retryAfter: Int64?)
    }

    package var send: ChannelSend
    package var result: Result

    package init(send: ChannelSend, result: Result) {
        (self.send, self.result) = (send, result)
    }
}
