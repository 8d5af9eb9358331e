import Kafka
import NotificationConsumer
import NotificationModel

extension SimulatedLink {
    func requestBounds(of partition: Int32, within time: Duration) throws -> (low: Int64, high: Int64) {
        try ask(.bounds, within: time) { () throws(KafkaError) in bounds(configuration.topics.requests, partition) }
    }

    func knownRequestBounds(of partition: Int32) -> (low: Int64, high: Int64)? {
        isDead || isClosed ? nil : bounds(configuration.topics.requests, partition)
    }

    func stateBounds(of partition: Int32, within time: Duration) throws -> (low: Int64, high: Int64) {
        try ask(.bounds, within: time) { () throws(KafkaError) in rewrite(stateBounds: partition) }
    }

    func bounds(_ topic: String, _ partition: Int32) -> (low: Int64, high: Int64) {
        let log = broker.log(topic, partition)
        return (log.start, log.end)
    }

    func endReadingState() {}

    func readState(
        of partition: Int32,
        from offset: Int64,
        to end: Int64,
        stallingAtMost time: Duration,
        _ apply: (_ offset: Int64, _ key: [UInt8], _ value: [UInt8]?) throws -> Void
    ) throws {
        var position = offset
        let topic = configuration.topics.state
        while position < end {
            let (records, reached) = try ask(.readState, within: time) { () throws(KafkaError) in
                let log = broker.log(topic, partition)
                guard position >= log.start, position <= log.end else { throw .offsetOutOfRange }
                return log.read(
                    from: position,
                    to: end,
                    committed: !configuration.bugs.contains(.readsUncommitted),
                    atMost: 50
                )
            }
            for record in records {
                guard let key = record.key else { continue }
                try apply(record.offset, key, record.value)
            }
            if reached == position {
                pass(time.microseconds) { broker.log(topic, partition).lastStable > position }
                try checkAlive()
                guard broker.log(topic, partition).lastStable > position else {
                    throw LaneLinkError.stalled(partition: partition, at: position, end: end)
                }
            }
            position = reached
        }
    }
}
