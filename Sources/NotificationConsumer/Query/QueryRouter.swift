import Kafka
import NotificationModel
import Synchronization

/// Brings queries to the lanes that own the recipients' partitions. Lanes tell it what they own; HTTP calls ask it, from
/// any thread.
package final class QueryRouter: Sendable {
    private struct Owners {
        /// The number of partitions; nil before the first assignment.
        var count: Int32?
        var inboxes: [Int32: QueryInbox] = [:]
    }

    private let owners = Mutex(Owners())

    package init() {}

    /// A lane owns these partitions, and has restored them.
    func open(_ numbers: [Int32], of count: Int32, _ inbox: QueryInbox) {
        owners.withLock { owners in
            owners.count = count
            for number in numbers { owners.inboxes[number] = inbox }
        }
    }

    /// A lane gives a partition up. It may have another owner in this process already.
    func close(_ number: Int32, _ inbox: QueryInbox) {
        owners.withLock { owners in
            if owners.inboxes[number] === inbox { owners.inboxes[number] = nil }
        }
    }

    /// Asks the owner.
    func answer(_ query: NotificationQuery) async -> NotificationQuery.Answer {
        let owners = owners.withLock { $0 }
        guard let count = owners.count else { return .unavailable }
        let number = query.key.withRecipientBytes { KafkaPartitioner.partition(forKey: $0, count: count) }
        guard let inbox = owners.inboxes[number] else { return .notOwned(partition: number) }
        return await withCheckedContinuation { continuation in
            inbox.post(.init(query: query) { continuation.resume(returning: $0) })
        }
    }
}
