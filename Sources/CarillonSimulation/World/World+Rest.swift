import Kafka
import NotificationConsumer
import NotificationModel
import NotificationState

/// When a world is at rest.
extension World {
    /// The work still in progress; nil if there is none.
    var unrest: String? {
        if let instance = instances.first(where: { !$0.isDown && !$0.isRunning }) {
            return "\(instance.name) does not run"
        }
        if !broker.group.isQuiet || isAnyOutOfTouch { return "the group is rebalancing" }
        if let unrest = ingest?.unrest { return unrest }
        if let link = writing {
            return
                "\(link.name) waits for \(link.producer.unsent) of \(link.outstanding) acknowledgements \(link.producer.state)"
        }
        if broker.transactions.isWriting { return "the end of a transaction is being written" }
        if devices.openCount > 0 { return "\(devices.openCount) sends are in progress" }
        if areRequestsBlocked { return "an open transaction blocks the reading of requests" }
        if state.isSending { return "something is being sent" }
        if let input = unreadInputs { return "\(input) is not read yet" }
        if let unanswered = observer.loop?.unanswered { return unanswered }
        if let unanswered = fixes.unanswered { return unanswered }
        if let place = observer.unburied { return "\(place) has no dead letter yet" }
        if let removal = observer.unansweredRemoval { return "the removal \(removal.text.prefix(8)) has no answer" }
        if timeline.now - broker.lastActivity < 2_000_000 { return "something is being written" }
        let waiting = observer.open.first { id in
            guard let entry = observer.model.requests[id], let key = entry.record.key else { return false }
            return !entry.request.mayStay || observer.events(of: id).isEmpty
                || observer.model.mayWait(key, before: .max) != id
        }
        return waiting.map { "\($0.text.prefix(8)) is open" }
    }

    /// A partition of an input beside `requests` with records that its marker does not cover.
    var unreadInputs: String? {
        for topic in [topics.signals, topics.devices, topics.tokens] {
            for number in 0..<fixes.partitions where hasRecord(topic, number, from: state.next(topic, number)) {
                return "\(topic) \(number)"
            }
        }
        return nil
    }

    private func hasRecord(_ topic: String, _ partition: Int32, from offset: Int64) -> Bool {
        !broker.log(topic, partition).read(from: offset, committed: true, atMost: 1).records.isEmpty
    }

    /// Whether an open transaction blocks the reading of requests.
    var areRequestsBlocked: Bool {
        (0..<scenario.partitions).contains { broker.log(topics.requests, $0).hasOpen }
    }

    /// A lane that waits for acknowledgements.
    var writing: SimulatedLink? { links.first { !$0.isDead && !$0.isClosed && $0.outstanding > 0 } }

    /// Whether a commit is in progress.
    var isCommitting: Bool { links.contains { !$0.isDead && $0.producer.state == .committing } }

    /// Whether a lane of a process has no open transaction.
    func isBetweenTransactions(_ process: SimulatedProcess) -> Bool {
        links.contains { $0.process === process && !$0.isClosed && $0.producer.state == .ready }
    }

    /// What the services count as open.
    var openCounts: OpenCounts {
        instances.flatMap(\.readableSeats).reduce(into: OpenCounts()) { $0 += $1.status.snapshot.open }
    }
}
