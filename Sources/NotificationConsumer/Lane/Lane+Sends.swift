import Kafka
import NotificationModel
import ServiceSupport

/// Sends: side work of the lane, performed by its channels.
extension Lane {
    static func sends(of context: LaneContext, waking link: Link) -> ChannelSends {
        ChannelSends(context.channels) { channel in
            SideWork(
                concurrency: min(
                    context.configuration.concurrentSends,
                    channel.concurrency.map { max(1, $0 / context.configuration.lanes) } ?? .max
                ),
                bound: context.configuration.outstandingSends,
                rate: rate(context.configuration),
                mailbox: .init(wake: link.wake, onLate: context.metrics.lateOutcomeCount)
            )
        }
    }

    /// The lane's share of the process's rate.
    private static func rate(_ configuration: ConsumerServiceConfiguration) -> WorkRate? {
        guard configuration.sendRate > 0 else { return nil }
        return WorkRate(
            perSecond: Double(configuration.sendRate) / Double(configuration.lanes),
            burst: configuration.sendBurst / configuration.lanes
        )
    }

    /// Passes an attempt to its channel, or queues it until another one has ended.
    func send(_ attempt: SendAttempt, of number: Int32) {
        sends.add(
            ChannelSend(attempt, assignmentID: assignmentID, partition: number),
            to: attempt.channel,
            within: configuration.sendTimeout,
            at: link.now,
            context.clock
        )
    }

    /// Applies the outcomes of sends since the last turn.
    func takeOutcomes() throws {
        guard !context.channels.isEmpty else { return }
        for (outcome, isTimedOut) in sends.take(at: link.now) {
            if isTimedOut { context.metrics.countTimedOutSend() }
            try apply(outcome)
        }
        sends.beginWaiting(at: link.now, context.clock)
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
        sends.cancel(where: isNeedless)
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
                let next = min(deadline, sends.nextInstant(at: link.now) ?? deadline)
                link.waitUntilWoken(min(max(.milliseconds(1), next - link.now), .milliseconds(100)))
            } else {
                try serveReports(within: .milliseconds(5))
                try advanceCheckpoint(waiting: true)
            }
        }
    }
}
