import DequeModule
package import NotificationDelivery
package import NotificationModel
import Synchronization

/// The channel `test`: it has no devices and answers as a channel to devices does, after a latency and with rejections and
/// time-outs, for trying out pipelines and for load tests.
///
/// What it answers follows from the send alone, so that a run can be repeated: a rejected notification is rejected at every
/// attempt, while of the attempts at one notification some time out.
package final class TestChannel<Time: Clock & Sendable>: DeliveryChannel, Sendable where Time.Duration == Duration {
    private struct Answer {
        let at: Time.Instant
        let reply: ChannelReply
        let result: ChannelResult
    }

    private struct Contents {
        /// In the order of their times, since the latency is the same for all; some of them are cancelled.
        var answers: Deque<Answer> = []
        var awaited: Set<ChannelReply> = []
        /// A task waits for the first of them.
        var isAnswering = false
    }

    package let name = ChannelName.test
    private let answers: TestChannelConfiguration
    private let seed: UInt64
    private let clock: Time
    private let contents = Mutex(Contents())

    /// - Parameter seed: another one rejects others.
    package init(_ answers: TestChannelConfiguration, seed: UInt64 = 0, clock: Time) {
        (self.answers, self.seed, self.clock) = (answers, seed, clock)
    }

    package func begin(_ send: Issued<ChannelSend>, _ reply: ChannelReply) {
        guard let result = result(of: send) else { return }
        guard answers.latency > .zero else { return reply(result) }
        let answer = Answer(at: clock.now.advanced(by: answers.latency), reply: reply, result: result)
        let mustStart = contents.withLock { contents in
            contents.answers.append(answer)
            contents.awaited.insert(reply)
            defer { contents.isAnswering = true }
            return !contents.isAnswering
        }
        if mustStart { Task { await answerAll() } }
    }

    package func cancel(_ reply: ChannelReply) {
        contents.withLock { contents in
            contents.awaited.remove(reply)
            // What was cancelled must not pile up until its time.
            guard contents.answers.count > 2 * contents.awaited.count + 64 else { return }
            contents.answers.removeAll { !contents.awaited.contains($0.reply) }
        }
    }

    /// What is kept of sends that are not answered.
    var kept: Int { contents.withLock { $0.answers.count } }

    /// Answers in turn, until nothing is left.
    private func answerAll() async {
        while let next = nextTime() {
            // Nobody cancels this task.
            try? await clock.sleep(until: next, tolerance: nil)
            for answer in takeDue(at: clock.now) { answer.reply(answer.result) }
        }
    }

    private func nextTime() -> Time.Instant? {
        contents.withLock { contents in
            if contents.answers.isEmpty { contents.isAnswering = false }
            return contents.answers.first?.at
        }
    }

    private func takeDue(at now: Time.Instant) -> [Answer] {
        contents.withLock { contents in
            var due: [Answer] = []
            while let first = contents.answers.first, first.at <= now {
                contents.answers.removeFirst()
                if contents.awaited.remove(first.reply) != nil { due.append(first) }
            }
            return due
        }
    }

    // MARK: - What is answered

    /// nil when it is not answered.
    private func result(of send: Issued<ChannelSend>) -> ChannelResult? {
        if draw(send.id, "timeout \(send.attempt)") < answers.timeouts { return nil }
        if case .deliver = send.kind,
            draw(UUIDv5.make(namespace: UUIDv5.eventNamespace, name: Array("\(send.requestID)".utf8)), "rejection")
                < answers.rejections
        {
            return .rejected(.rejected)
        }
        return .accepted
    }

    /// A number below a thousand that only the send and the purpose decide.
    private func draw(_ id: UUIDValue, _ purpose: String) -> Int { Int(id.draw(purpose, seed: seed) % 1000) }
}
