/// A link over librdkafka: what one consumer and one producer give without further ado.
package protocol ClientLink: PublishingLink {
    var consumer: KafkaConsumer { get }
    var producer: KafkaLaneProducer { get }
}

// Inlinable, so that the loops in other modules are specialised for their links down to the client.
extension ClientLink {
    @inlinable package var now: ContinuousClock.Instant { .now }

    @inlinable package var maximumRecordBytes: Int { producer.maximumRecordBytes }

    @inlinable package var outstanding: Int { producer.outstanding }

    package func pauseReading() { consumer.pause(consumer.assignment) }

    package func resumeReading() { consumer.resume(consumer.assignment) }

    package func initTransactions(within time: Duration) throws(KafkaError) {
        try producer.initTransactions(within: time)
    }

    package func beginTransaction() throws(KafkaError) { try producer.beginTransaction() }

    package func commitTransaction(within time: Duration) throws(KafkaError) {
        try producer.commitTransaction(within: time)
    }

    package func abortTransaction(within time: Duration) throws(KafkaError) {
        try producer.abortTransaction(within: time)
    }
}
