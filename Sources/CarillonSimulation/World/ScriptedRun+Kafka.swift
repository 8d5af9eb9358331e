import Kafka
import NotificationModel

/// The script's access to Kafka.
extension ScriptedRun {
    /// A topic that the consumer service writes.
    package enum Topic {
        case deliveries, state
    }

    /// A record as a `read_committed` reader gets it.
    package struct CommittedRecord {
        package var partition: Int
        package var key: [UInt8]
        /// nil for a tombstone.
        package var value: [UInt8]?
        package var headers: [String: [UInt8]]
    }

    /// The position of a reader, by partition.
    package struct Position {
        var offsets: [Int32: Int64] = [:]

        package init() {}
    }

    /// The records of a topic from a position to its end, each partition in order; moves the position to the end.
    package func read(_ topic: Topic, from position: inout Position) -> [CommittedRecord] {
        let name = topic == .deliveries ? world.topics.deliveries : world.topics.state
        var found: [CommittedRecord] = []
        for partition in 0..<world.broker.partitionCount(of: name) {
            let log = world.broker.log(name, partition)
            let (records, end) = log.read(from: position.offsets[partition] ?? 0, committed: true)
            position.offsets[partition] = end
            for record in records {
                let headers = record.headers.map { ($0.name, $0.value ?? []) }
                found.append(
                    CommittedRecord(
                        partition: Int(partition),
                        key: record.key ?? [],
                        value: record.value,
                        headers: Dictionary(headers) { $1 }
                    )
                )
            }
        }
        return found
    }

    /// Checks that every request has its event and is closed, unless it is due later than ten seconds ago.
    ///
    /// - Throws: the broken rule.
    package func checkCounting() throws {
        let horizon = world.timeline.clock.wall.adding(milliseconds: -10_000)
        world.check { () throws(Violation) in
            try world.observer.checkCounting(
                isEnd: false,
                isExactlyOnce: world.options.isExactlyOnce,
                horizon: horizon
            )
        }
        try proceed(for: .zero)
    }

    /// The broker does not answer for a while. This begins within three seconds, or in the middle of a commit.
    package func restartBroker() throws {
        let time = world.random.number(500_000...15_000_000)
        let latest = world.timeline.now + (world.random.chance(500) ? 3_000_000 : 0)
        var isGone = false
        world.onEvent = { [unowned world] in
            guard !isGone, world.isCommitting || world.timeline.now >= latest else { return }
            isGone = true
            world.note("broker", "is unavailable for \(time) us")
            world.broker.goAway(for: time)
        }
        defer { world.onEvent = {} }
        try proceed(until: "the broker becomes unavailable") { isGone }
        try proceed(until: "the broker is available again") { !world.broker.isAway }
    }

    /// Compacts `requests` and `state`; each must lose some records.
    package func compact() throws {
        for topic in [world.topics.requests, world.topics.state] {
            var (before, after) = (0, 0)
            for partition in 0..<world.broker.partitionCount(of: topic) {
                let log = world.broker.log(topic, partition)
                before += log.records.count
                world.broker.compact(topic, partition, tail: log.end - world.random.number(0...3), .init())
                after += log.records.count
            }
            world.note("broker", "compacts \(topic) from \(before) to \(after) records")
            guard after < before else { throw failure("\(topic) is not smaller after compaction") }
        }
    }

    /// Deletes all records in the recipient's partition of `requests`, also unread ones.
    package func expireRequests(ofRecipient number: Int) throws {
        let key = try NotificationKey(application: "shop", recipient: Self.recipient(number), identifier: "")
        let partition = world.requests.home(of: key)
        let log = world.broker.log(world.topics.requests, partition)
        log.deleteRecords(before: log.end)
        world.observer.lose(partition, from: world.state.resumption(partition), before: log.start)
        world.note("broker", "expires \(world.topics.requests) \(partition) up to \(log.start)")
    }
}
