import Kafka
import NotificationDelivery
import NotificationModel
import ServiceSupport

/// Sends: side work of the lane, performed by its channels.
extension Lane {
    static func sends(of context: LaneContext, waking link: Link) -> ChannelSends {
        ChannelSends(context.channels, devicesPerRecipient: context.configuration.center.devicesPerRecipient) {
            channel in
            SideWork(
                concurrency: min(
                    context.configuration.lane.concurrentSends,
                    channel.concurrency.map { max(1, $0 / context.configuration.lanes) } ?? .max
                ),
                // A channel that says how many it can perform would only let them wait itself.
                reserve: channel.concurrency == nil ? (context.configuration.lane.concurrentSends + 9) / 10 : 0,
                bound: context.configuration.lane.outstandingSends,
                rate: rate(context.configuration),
                mailbox: .init(wake: link.wake, onLate: context.metrics.lateOutcomeCount)
            )
        }
    }

    /// The lane's share of the process's rate.
    private static func rate(_ configuration: ConsumerServiceConfiguration) -> WorkRate? {
        guard configuration.lane.sendRate > 0 else { return nil }
        return WorkRate(
            perSecond: Double(configuration.lane.sendRate) / Double(configuration.lanes),
            burst: configuration.lane.sendBurst / configuration.lanes
        )
    }

    /// Passes an attempt to its channel, or queues it until another one has ended.
    func send(_ attempt: ChannelSend, of number: Int32) {
        sends.add(
            Issued(attempt, of: number, in: assignmentID),
            within: configuration.lane.sendTimeout,
            at: link.now,
            context.clock
        )
    }

    /// Applies the results of attempts since the last turn.
    func takeOutcomes() throws {
        guard !context.channels.isEmpty else { return }
        let results = sends.take(at: link.now)
        for (send, result, isTimedOut) in results {
            if isTimedOut { context.metrics.countTimedOutSend() }
            try apply(result, to: send)
        }
        // Only an answer makes sure that a commit follows.
        if !results.isEmpty { try publishChannelChanges() }
        sends.beginWaiting(at: link.now, context.clock)
    }

    /// Publishes what channels tell of themselves.
    private func publishChannelChanges() throws {
        guard owned.dirtyCount > 0 else { return }
        for changes in context.channels.compactMap(\.changes) {
            for var event in changes.take() {
                event.instance = configuration.instanceID
                uncommittedChanges.append((changes, event))
                try emission.publish(event, at: context.clock())
            }
        }
    }

    /// What was published may not be committed: another lane publishes it again, under the same ids.
    func putBackChannelChanges() {
        for (changes, event) in uncommittedChanges.reversed() { changes.putBack([event]) }
        uncommittedChanges = []
    }

    private func apply(_ result: ChannelResult, to send: Issued<ChannelSend>) throws {
        let now = context.clock()
        let isCurrent =
            try send.assignmentID == assignmentID
            && usingStore { try owned[send.partition]?.center.apply(result, to: send.work, at: now) } == true
        if !isCurrent { context.metrics.lateOutcomeCount() }
        if isCurrent, result.isAcceptance, case .deliver = send.work.kind, !send.work.isQuiet {
            context.metrics.record(latency: now.rawValue - send.work.sequence.time.rawValue, of: send.work.channel)
        }
        try carryOut(of: send.partition, at: now)
    }

    /// Cancels sends of revoked partitions: the next owner sends them.
    func cancelSends(where isNeedless: (Issued<ChannelSend>) -> Bool = { _ in true }) {
        sends.cancel(where: isNeedless)
    }

    /// Waits for sends in progress for at most half of the time: the checkpoint of the last outcomes comes afterwards. Those before
    /// are committed meanwhile: if the process is killed, its successor knows them.
    ///
    /// A checkpoint in progress is finished first if nothing else may be published meanwhile: the event of an answer
    /// must not be committed with an entry that is still being sent.
    func awaitSends(before end: ContinuousClock.Instant) throws {
        let deadline = link.now.advanced(by: (end - link.now) / 2)
        while owned.isAnySending, link.now < deadline {
            if ledger.checkpoint.allowsWork {
                try takeOutcomes()
                guard owned.isAnySending else { return }
                if isCheckpointDue() { cut() }
                try serveReports(within: .zero)
                try advanceCheckpoint(waiting: false)
                let next = min(deadline, sends.nextInstant(at: link.now) ?? deadline)
                let longest = Duration.milliseconds(ledger.checkpoint.isUnderWay ? 5 : 100)
                link.waitUntilWoken(min(max(.milliseconds(1), next - link.now), longest))
            } else {
                try awaitAcknowledgements(within: .milliseconds(5))
                try advanceCheckpoint(waiting: true)
            }
        }
    }
}
