package import NotificationDelivery
package import NotificationModel
import ServiceSupport

/// The sends of a lane: side work for each of its channels.
package struct ChannelSends {
    package typealias Work = SideWork<Issued<ChannelSend>, ChannelResult>

    private struct Desk {
        let channel: any DeliveryChannel
        let name: ChannelName
        var work: Work
        var pace = SendPace()
        /// How many sends the channel has begun since the last flush.
        var unflushed = 0

        /// How much more may be added. While the channel is brisk, what it cannot begin soon is better left in the topic: each
        /// send that a checkpoint finds unfinished is written to `state` twice.
        var room: Int {
            let ahead = 4 * work.concurrency
            return pace.lately < ahead ? work.room : min(work.room, max(0, ahead - work.count))
        }
    }

    /// How many sends a channel may leave until they are flushed: to wake its thread takes system calls of both. The lane
    /// needs about a millisecond for so many.
    private static let mostUnflushed = 32

    // Read in place, by index: a copy of a desk counts all that it refers to, in each turn.
    private var desks: [Desk] = []
    private let devicesPerRecipient: Int
    /// The spans of attempts; nil where nothing is traced.
    var spans: OpenSpans<Issued<ChannelSend>>?

    /// - Parameters:
    ///   - devicesPerRecipient: how many sends of one notification a channel to devices has at most.
    ///   - makeWork: the side work for a channel.
    package init(
        _ channels: [any DeliveryChannel],
        devicesPerRecipient: Int = 1,
        _ makeWork: (any DeliveryChannel) -> Work
    ) {
        self.devicesPerRecipient = max(1, devicesPerRecipient)
        desks = channels.map { Desk(channel: $0, name: $0.name, work: makeWork($0)) }
    }

    /// Sends without an outcome.
    var count: Int { desks.indices.reduce(0) { $0 + desks[$1].work.count } }

    /// Sends without an outcome of the channel that has most of them.
    var largest: Int { desks.indices.reduce(0) { max($0, desks[$1].work.count) } }

    /// For the sends of how many notifications every channel has room; the last of them may exceed it by its devices.
    var room: Int {
        desks.indices.reduce(.max) { room, index in
            let each = desks[index].name.platform == nil ? 1 : devicesPerRecipient
            return min(room, (desks[index].room + each - 1) / each)
        }
    }

    /// When the next send times out, or the rate of its channel allows it to begin.
    mutating func nextInstant(at now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        var next: ContinuousClock.Instant?
        for index in desks.indices {
            guard let instant = desks[index].work.nextInstant(at: now) else { continue }
            next = next.map { min($0, instant) } ?? instant
        }
        return next
    }

    /// Queues a send, and begins it if the channel has room.
    package mutating func add(
        _ send: Issued<ChannelSend>,
        within time: Duration,
        at now: ContinuousClock.Instant,
        _ clock: () -> Timestamp
    ) {
        // The lifecycle names only channels that the lane has.
        guard let index = desks.indices.first(where: { desks[$0].name == send.work.channel }) else { return }
        desks[index].work.add(send, within: time, priority: send.work.priority)
        begin(index, at: now, clock)
    }

    private mutating func begin(_ index: Int, at now: ContinuousClock.Instant, _ clock: () -> Timestamp) {
        let (channel, spans) = (desks[index].channel, spans)
        var unflushed = desks[index].unflushed
        desks[index].work.begin(at: now) { send, reply in
            // It may have waited for long. The center finds that it has expired.
            guard send.work.expiration.map({ $0 > clock() }) ?? true else { return reply(.deferred(retryAfter: nil)) }
            channel.begin(spans?.begin(send) ?? send, reply)
            unflushed += 1
            if unflushed == Self.mostUnflushed {
                unflushed = 0
                channel.flush()
            }
        }
        desks[index].unflushed = unflushed
    }

    /// Begins what the channels have room for again, and lets them send it.
    package mutating func beginWaiting(at now: ContinuousClock.Instant, _ clock: () -> Timestamp) {
        for index in desks.indices where desks[index].work.mayBegin { begin(index, at: now, clock) }
        flush()
    }

    /// Lets the channels send what they have begun, before the caller waits or does other work.
    package mutating func flush() {
        for index in desks.indices where desks[index].unflushed > 0 {
            desks[index].unflushed = 0
            desks[index].channel.flush()
        }
    }

    /// Withdraws a send that has not begun.
    mutating func withdraw(_ id: UUIDValue, of key: NotificationKey) {
        for index in desks.indices { desks[index].work.withdraw { $0.work.id == id && $0.work.key == key } }
    }

    /// The results since the last call. The channel of a send that took too long must stop.
    package mutating func take(
        at now: ContinuousClock.Instant
    ) -> [(send: Issued<ChannelSend>, result: ChannelResult, isTimedOut: Bool)] {
        var results: [(send: Issued<ChannelSend>, result: ChannelResult, isTimedOut: Bool)] = []
        for index in desks.indices {
            var settled = 0
            for (send, ending) in desks[index].work.take(at: now) {
                let result: ChannelResult
                var isTimedOut = false
                switch ending {
                case .answered(let answer): result = answer
                case .withdrawn: result = .deferred(retryAfter: nil)
                case .timedOut(let reply):
                    desks[index].channel.cancel(reply)
                    (result, isTimedOut) = (.unanswered(retryAfter: nil), true)
                }
                spans?.end(send, result, isTimedOut: isTimedOut)
                results.append((send, result, isTimedOut))
                if result.isFinal { settled += 1 }
            }
            desks[index].pace.note(settled, at: now)
        }
        return results
    }

    /// Gives up matching sends: the channels stop, and outcomes that arrive later are late.
    mutating func cancel(where isNeedless: (Issued<ChannelSend>) -> Bool) {
        for index in desks.indices {
            for reply in desks[index].work.cancel(where: isNeedless) { desks[index].channel.cancel(reply) }
        }
        spans?.forget(where: isNeedless)
    }
}
