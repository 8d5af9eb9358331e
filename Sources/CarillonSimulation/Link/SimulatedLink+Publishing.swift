import Kafka
import NotificationConsumer
import NotificationModel
import ServiceSupport

extension SimulatedLink {
    func topicName(_ topic: LaneTopic) -> String {
        switch topic {
        case .deliveries: configuration.topics.deliveries
        case .deadLetters: configuration.topics.deadLetters
        case .state: configuration.topics.state
        case .signals: configuration.topics.signals
        case .responses: configuration.topics.responses
        case .tokens: configuration.topics.tokens
        }
    }

    var inputPartitions: Int32 { broker.partitionCount(of: configuration.topics.requests) }

    func partitionCount(of topic: LaneTopic) -> Int32 { broker.partitionCount(of: topicName(topic)) }

    var maximumRecordBytes: Int { producer.maximumRecordBytes }

    func enqueue(_ record: LinkRecord<LaneTopic>) throws(KafkaError) {
        let fault = enter(.enqueue)
        try checkAlive()
        let written = LogRecord(
            timestamp: process.clock.wall.rawValue,
            key: record.key,
            value: record.value,
            headers: record.headers.headers,
            generation: generation
        )
        try publish(written, to: record.topic, record.partition, tag: record.tag)
        if fault == .crashAfter { process.crash() }
        try checkAlive()
    }

    var outstanding: Int {
        isDead || isClosed ? 0 : producer.outstanding + pretended.count + (overtaken == nil ? 0 : 1)
    }

    /// Its producer sends each record at once.
    func endLinger() {}

    func serveReports(within time: Duration, _ body: (KafkaDeliveryReport) -> Void) {
        let fault = enter(.serveReports)
        guard !isDead else { return pass(time.microseconds) }
        if !producer.hasReports, pretended.isEmpty, time > .zero {
            pass(time.microseconds) { producer.hasReports }
        }
        guard !isDead, !isClosed else { return }
        let told = pretended
        pretended = []
        for report in told { body(report) }
        for report in producer.takeReports() where !isHeldBackReport(report) {
            noteReport(report)
            body(report)
        }
        if fault == .crashAfter { process.crash() }
    }

    func commitOffsets(_ offsets: InputOffsets, within time: Duration?) throws(KafkaError) {
        let sorted = sorted(offsets)
        guard let time else {
            // The caller does not wait for the result, so a fault is not reported.
            guard enter(.commitOffsets) == nil else { return try checkAlive() }
            try checkAlive()
            guard !broker.isAway, !hasNoCoordinator else { return }
            try? group.commit(sorted, from: memberID, generation: generation)
            return
        }
        try awaitCoordinator(within: time)
        try ask(.commitOffsets, within: time) { () throws(KafkaError) in
            try group.commit(sorted, from: memberID, generation: generation)
        }
    }

    private func sorted(_ offsets: InputOffsets) -> [GroupOffset] {
        offsets.sorted { $0.key < $1.key }.map { (place($0.key), $0.value) }
    }

    // MARK: - Transactions

    func initTransactions(within time: Duration) throws(KafkaError) {
        try ask(.initTransactions, within: time) { () throws(KafkaError) in try producer.initTransactions() }
    }

    func beginTransaction() throws(KafkaError) {
        let fault = enter(.beginTransaction)
        try checkAlive()
        try producer.beginTransaction()
        if fault == .crashAfter { process.crash() }
        try checkAlive()
    }

    func sendOffsets(_ offsets: InputOffsets, within time: Duration) throws(KafkaError) {
        guard let offsets = rewrite(offsets: offsets) else { return }
        try ask(.sendOffsets, within: time) { () throws(KafkaError) in
            try producer.sendOffsets(
                sorted(offsets),
                from: .init(id: memberID, generation: generation),
                of: group
            )
        }
    }

    func commitTransaction(within time: Duration) throws(KafkaError) {
        let wasCommitting = producer.state == .committing
        try checkAlive()
        try producer.beginCommit()
        if !wasCommitting {
            // librdkafka first writes all queued records, and waits until their reports are served.
            pass(time.microseconds) { producer.unsent == 0 || producer.state != .committing }
            try checkAlive()
            guard producer.state != .failed else { throw .fatalOfClient }
            guard producer.outstanding == 0 else {
                producer.cancelCommit(mustAbort: producer.state == .mustAbort)
                throw producer.state == .mustAbort ? .transactionMustAbort : .noReply
            }
        }
        do throws(KafkaError) {
            try ask(.commitTransaction, within: time) { () throws(KafkaError) in try producer.end(commit: true) }
        } catch {
            guard trustsUnknownCommit, error.isRetriable, !isDead else { throw error }
        }
        producer.ended()
    }

    func abortTransaction(within time: Duration) throws(KafkaError) {
        try checkAlive()
        try producer.beginAbort()
        overtaken = nil
        try ask(.abortTransaction, within: time) { () throws(KafkaError) in try producer.end(commit: commitsAborts) }
        producer.ended()
    }
}
