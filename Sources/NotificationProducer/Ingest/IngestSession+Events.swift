import Kafka
import NotificationModel
import NotificationPublisher

/// From a record of `business-events` to the records made of it.
extension IngestSession {
    func handle(_ message: borrowing KafkaMessage) {
        let partition = message.partition
        let offset = message.offset
        if oversized.refusals(partition: partition, offset: offset) > 0 {
            let error = ModelError(.tooLarge, "the broker does not take a record made of this event")
            deadLetter(message, error)
            return
        }
        do throws(ModelError) {
            var reader = BusinessEventReader()
            message.forEachHeader { reader.add(name: $0, value: $1) }
            let event = try reader.event(value: message.value())
            switch rules.engine.apply(to: event) {
            case .noRule:
                throw ModelError(.noRule, field: "type", "no rule is for events of type \(event.type)")
            case .skipped:
                metrics.count(.skipped)
                tracker.finish(partition, offset: offset)
            case .applied(let outputs, let failures):
                publish(outputs, failures, event, message)
            }
        } catch {
            deadLetter(message, error)
        }
    }

    private func publish(
        _ outputs: [RuleEngine.Output],
        _ failures: [RuleEngine.Failure],
        _ event: BusinessEvent,
        _ message: borrowing KafkaMessage
    ) {
        let records = outputs.count + (failures.isEmpty ? 0 : 1)
        let slot = tracker.begin(message.partition, offset: message.offset, records: records)
        let trace = TraceContext(
            traceparent: event.extensions["traceparent"],
            tracestate: event.extensions["tracestate"]
        )
        let time = now()
        for output in outputs {
            requestHeaders.write(
                key: output.key,
                requestID: output.requestID,
                isRemoval: output.isRemoval,
                time: time,
                trace: trace,
                into: &scratch
            )
            send(
                OutgoingRecord(
                    kind: .request,
                    partition: output.key.withRecipientBytes {
                        KafkaPartitioner.partition(forKey: $0, count: requests.partitions)
                    },
                    key: output.key.encoded,
                    value: output.value,
                    headers: scratch,
                    slot: slot,
                    source: message.partition
                )
            )
        }
        metrics.count(failures.isEmpty ? .published : .deadLettered)
        if let first = failures.first {
            let detail = failures.map { "rule \($0.rule): \($0.error.detail)" }.joined(separator: "; ")
            send(deadLetterRecord(message, ModelError(first.error.reason, field: first.error.field, detail), slot))
        }
    }

    private func deadLetter(_ message: borrowing KafkaMessage, _ error: ModelError) {
        metrics.count(.deadLettered)
        let slot = tracker.begin(message.partition, offset: message.offset, records: 1)
        send(deadLetterRecord(message, error, slot))
    }

    private func deadLetterRecord(_ message: borrowing KafkaMessage, _ error: ModelError, _ slot: UInt)
        -> OutgoingRecord
    {
        let key = message.key()
        let origin = DeadLetter.Origin(
            topic: configuration.topics.businessEvents,
            partition: message.partition,
            offset: message.offset,
            timestamp: message.timestamp,
            consumerGroup: configuration.consumer.groupID
        )
        var error = error
        var value = message.value()
        if oversized.refusals(partition: message.partition, offset: message.offset) > 1 {
            // Better a dead letter without its bytes than an event that stops its partition; the origin says where they are.
            value = nil
            error = ModelError(.tooLarge, "\(error.detail); not even as a dead letter, so the value was left out")
        }
        var headers = KafkaHeaderBuffer()
        let original = message.headers().map { (name: $0.name, value: $0.value) }
        for header in DeadLetter.headers(original: original, error: error, origin: origin) {
            headers.append(KafkaHeaderName(header.name), header.value)
        }
        return OutgoingRecord(
            kind: .deadLetter(error.reason),
            partition: key.map { KafkaPartitioner.partition(forKey: $0, count: deadLetters.partitions) }
                ?? message.partition % max(1, deadLetters.partitions),
            key: key,
            value: value,
            headers: headers,
            slot: slot,
            source: message.partition
        )
    }
}
