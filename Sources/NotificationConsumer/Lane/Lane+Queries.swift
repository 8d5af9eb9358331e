import Kafka
import NotificationModel

/// Queries: answered between two records, on the lane's thread.
extension Lane {
    /// The most queries that one turn answers.
    private static var queriesPerTurn: Int { 16 }

    /// Answers some of the queries that wait.
    func answerQueries() throws {
        guard let queries else { return }
        for _ in 0..<Self.queriesPerTurn {
            guard let waiting = queries.next() else { return }
            do {
                waiting.reply(try usingStore { try answer(waiting.query) })
            } catch {
                waiting.reply(.unavailable)
                throw error
            }
        }
        // The others must not wait for a record.
        link.wake()
    }

    private func answer(_ query: NotificationQuery) throws -> NotificationQuery.Answer {
        let number = query.key.withRecipientBytes { KafkaPartitioner.partition(forKey: $0, count: partitions) }
        // The partition may have left since the query was asked.
        guard owned.contains(number) else { return .notOwned(partition: number) }
        if query.isOfDevices {
            return .devices(try owned[number]?.center.devices(for: query, at: context.clock()) ?? [])
        }
        if query.key.isWholeRecipient { return .page(try owned[number]?.center.page(for: query) ?? .init()) }
        return .notification(try owned[number]?.center.notification(for: query))
    }
}
