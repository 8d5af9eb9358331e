import Kafka
import NotificationModel
import ServiceSupport

/// Sends: side work of the lane, performed by its channel.
extension Lane {
    static func sideWork(of context: LaneContext, waking link: Link) -> SideWork<ChannelSend, ChannelOutcome.Result>? {
        guard let channel = context.channel else { return nil }
        let mailbox = SideWorkMailbox<ChannelOutcome.Result>(wake: link.wake, onLate: context.metrics.lateOutcomeCount)
        return SideWork(
            concurrency: min(
                context.configuration.concurrentSends,
                channel.concurrency.map { max(1, $0 / context.configuration.lanes) } ?? .max
            ),
            bound: context.configuration.outstandingSends,
            rate: rate(context.configuration),
            mailbox: mailbox
        )
    }

    /// The lane's share of the process's rate.
    private static func rate(_ configuration: ConsumerServiceConfiguration) -> WorkRate? {
        guard configuration.sendRate > 0 else { return nil }
        return WorkRate(
            perSecond: Double(configuration.sendRate) / Double(configuration.lanes),
            burst: configuration.sendBurst / configuration.lanes
        )
    }

    /// Passes an attempt to the channel, or queues it until another one has ended.
    func send(_ attempt: SendAttempt, of number: Int32) {
        let send = ChannelSend(attempt, assignmentID: assignmentID, partition: number)
        sends?.add(send, within: configuration.sendTimeout, priority: send.priority)
        beginSends()
    }

    private func beginSends() {
        guard let channel = context.channel else { return }
        let clock = context.clock
        sends?.begin(at: link.now) { send, reply in
            // It may have waited for long. The center finds that it has expired.
            guard send.expiration.map({ $0 > clock() }) ?? true else { return reply(.failed(retryAfter: nil)) }
            channel.begin(send, reply)
        }
    }

    func withdraw(_ id: SendID, of key: NotificationKey) {
        sends?.withdraw { $0.key == key && $0.id == id }
    }

    /// Applies the outcomes of sends since the last turn.
    func takeOutcomes() throws {
        guard let channel = context.channel, let ended = sends?.take(at: link.now) else { return }
        for (send, ending) in ended {
            switch ending {
            case .answered(let result): try apply(ChannelOutcome(send: send, result: result))
            case .withdrawn: try apply(ChannelOutcome(send: send, result: .failed(retryAfter: nil)))
            case .timedOut(let reply):
                channel.cancel(reply)
                context.metrics.countTimedOutSend()
                try apply(ChannelOutcome(send: send, result: .failed(retryAfter: nil)))
            }
        }
        if sends?.mayBegin == true { beginSends() }
    }

    private func apply(_ outcome: ChannelOutcome) throws {
        let now = context.clock()
        let isCurrent =
            try outcome.send.assignmentID == assignmentID
            && usingStore { try owned[outcome.send.partition]?.center.apply(outcome, at: now) } == true
        if !isCurrent { context.metrics.lateOutcomeCount() }
        try carryOut(of: outcome.send.partition, at: now)
    }

    /// Cancels sends of revoked partitions: the next owner sends them.
    func cancelSends(where isNeedless: (ChannelSend) -> Bool = { _ in true }) {
        guard let channel = context.channel else { return }
        for reply in sends?.cancel(where: isNeedless) ?? [] { channel.cancel(reply) }
    }

    /// Waits for sends in progress for at most half of the time: the checkpoint of their outcomes comes afterwards.
    ///
    /// A checkpoint in progress is finished first if nothing else may be published meanwhile: the event of an answer
    /// must not be committed with an entry that is still being sent.
    func awaitSends(before end: ContinuousClock.Instant) throws {
        let deadline = link.now.advanced(by: (end - link.now) / 2)
        while owned.isAnySending, link.now < deadline {
            if ledger.checkpoint.allowsWork {
                try takeOutcomes()
                guard owned.isAnySending else { return }
                let next = min(deadline, sends?.nextInstant(at: link.now) ?? deadline)
                link.waitUntilWoken(min(max(.milliseconds(1), next - link.now), .milliseconds(100)))
            } else {
                try serveReports(within: .milliseconds(5))
                try advanceCheckpoint(waiting: true)
            }
        }
    }
}
