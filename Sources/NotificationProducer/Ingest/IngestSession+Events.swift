import Kafka
import NotificationModel
import NotificationPublisher

/// From a record of `business-events` to the resulting records.
extension IngestSession {
    func handle(_ message: borrowing KafkaMessage) {
        let partition = message.partition
        let offset = message.offset
        do throws(ModelError) {
            var reader = BusinessEventReader()
            message.forEachHeader { reader.add(name: $0, value: $1) }
            let event = try reader.event(value: message.value())
            // All supported brokers set a timestamp.
            let arrived = message.timestamp.map { Timestamp(rawValue: $0) } ?? now()
            switch rules.engine.apply(to: event, arrived: arrived) {
            case .noRule:
                throw RuleEngine.noRule(for: event)
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
        let trace = TraceContext(
            traceparent: event.extensions["traceparent"],
            tracestate: event.extensions["tracestate"]
        )
        var (outputs, errors) = (outputs, failures.map(\.described))
        if !outputs.allSatisfy({ fits($0, trace) }) {
            errors += outputs.filter { !fits($0, trace) }.map { output in
                ModelError(.tooLarge, "the request \(output.key) exceeds the record size limit of \(bound.bytes) bytes")
            }
            outputs.removeAll { !fits($0, trace) }
        }
        let records = outputs.count + (errors.isEmpty ? 0 : 1)
        let slot = tracker.begin(message.partition, offset: message.offset, records: records)
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
        metrics.count(errors.isEmpty ? .published : .deadLettered)
        if let first = errors.first {
            let detail = errors.map(\.detail).joined(separator: "; ")
            send(deadLetterRecord(message, ModelError(first.reason, field: first.field, detail), slot))
        }
    }

    private func fits(_ output: RuleEngine.Output, _ trace: TraceContext?) -> Bool {
        requestHeaders.largestRecord(key: output.key, valueBytes: output.value.count, trace: trace) <= bound.bytes
    }

    private func deadLetter(_ message: borrowing KafkaMessage, _ error: ModelError) {
        metrics.count(.deadLettered)
        let slot = tracker.begin(message.partition, offset: message.offset, records: 1)
        send(deadLetterRecord(message, error, slot))
    }

    private func deadLetterRecord(_ message: borrowing KafkaMessage, _ error: ModelError, _ slot: UInt)
        -> OutgoingRecord
    {
        let origin = DeadLetter.Origin(
            topic: configuration.topics.businessEvents,
            partition: message.partition,
            offset: message.offset,
            timestamp: message.timestamp,
            consumerGroup: configuration.consumer.groupID
        )
        let letter = DeadLetter(
            key: message.key(),
            value: message.value(),
            headers: message.headers().map { ($0.name, $0.value) },
            because: error,
            from: origin,
            within: bound
        )
        var headers = KafkaHeaderBuffer()
        for header in letter.headers { headers.append(KafkaHeaderName(header.name), header.value) }
        return OutgoingRecord(
            kind: .deadLetter(error.reason),
            partition: origin.deadLetterPartition(of: deadLetters.partitions),
            key: letter.key,
            value: letter.value,
            headers: headers,
            slot: slot,
            source: message.partition
        )
    }
}

extension RuleEngine.Failure {
    /// The error with its rule's name.
    fileprivate var described: ModelError {
        ModelError(error.reason, field: error.field, "rule \(rule): \(error.detail)")
    }
}
