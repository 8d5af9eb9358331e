import Kafka
import NotificationModel
import NotificationPublisher
import ServiceHTTP
import ServiceSupport

/// From a record of an input to the resulting records.
extension IngestSession {
    /// - Parameter copy: The whole record, for a dead letter.
    func handle(_ record: IngestRecord, _ copy: () -> KafkaConsumerRecord) {
        do throws(ModelError) {
            let event = try record.event()
            switch record.partition.input {
            case .businessEvents: try event.checkTypeIsFree()
            case .responses:
                // What others write there is not for rules.
                guard event.type == RuleEngine.responseType else { return skip(record) }
            }
            // All supported brokers set a timestamp.
            let arrived = record.timestamp.map { Timestamp(rawValue: $0) } ?? context.now()
            switch context.rules().apply(to: event, arrived: arrived) {
            case .noRule where record.partition.input == .businessEvents:
                throw RuleEngine.noRule(for: event)
            case .noRule, .skipped: skip(record)
            case .applied(let outputs, let failures):
                publish(outputs, failures, event, record, copy)
            }
        } catch {
            metrics.count(.deadLettered)
            let slot = tracker.begin(record.partition, offset: record.offset, records: 1)
            send(deadLetter: copy(), of: record.partition, error, slot)
        }
    }

    private func skip(_ record: IngestRecord) {
        metrics.count(.skipped)
        tracker.finish(record.partition, offset: record.offset)
    }

    private func publish(
        _ outputs: [RuleEngine.Output],
        _ failures: [RuleEngine.Failure],
        _ event: BusinessEvent,
        _ record: IngestRecord,
        _ copy: () -> KafkaConsumerRecord
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
        if let scope = record.scope {
            let allowed = EventScope.applications(scope)
            errors += outputs.map(\.key).filter { !allowed.contains($0.application) }.map(EventScope.refusal)
            outputs.removeAll { !allowed.contains($0.key.application) }
        }
        let records = outputs.count + (errors.isEmpty ? 0 : 1)
        let slot = tracker.begin(record.partition, offset: record.offset, records: records)
        let time = context.now()
        for output in outputs {
            requestHeaders.write(
                key: output.key,
                requestID: output.requestID,
                isRemoval: output.isRemoval,
                time: time,
                trace: trace,
                into: &scratch
            )
            let request = LinkRecord(
                topic: IngestTopic.requests,
                partition: output.key.withRecipientBytes {
                    KafkaPartitioner.partition(forKey: $0, count: requestPartitions)
                },
                key: output.key.encoded,
                value: output.value,
                headers: scratch,
                tag: OutgoingRecord.tag(of: .request, in: slot)
            )
            send(OutgoingRecord(record: request, source: record.partition))
        }
        metrics.count(errors.isEmpty ? .published : .deadLettered)
        if let first = errors.first {
            let detail = errors.map(\.detail).joined(separator: "; ")
            send(
                deadLetter: copy(),
                of: record.partition,
                ModelError(first.reason, field: first.field, detail),
                slot
            )
        }
    }

    private func fits(_ output: RuleEngine.Output, _ trace: TraceContext?) -> Bool {
        requestHeaders.largestRecord(key: output.key, valueBytes: output.value.count, trace: trace) <= bound.bytes
    }

    private func send(
        deadLetter read: KafkaConsumerRecord,
        of partition: IngestPartition,
        _ error: ModelError,
        _ slot: UInt
    ) {
        let letter = DeadLetter.record(
            of: read,
            because: error,
            group: configuration.consumer.groupID,
            within: bound,
            to: IngestTopic.deadLetters,
            partitions: deadLetterPartitions,
            tag: OutgoingRecord.tag(of: .deadLetter(error.reason), in: slot)
        )
        send(OutgoingRecord(record: letter, source: partition))
    }
}

extension RuleEngine.Failure {
    /// The error with its rule's name.
    fileprivate var described: ModelError {
        ModelError(error.reason, field: error.field, "rule \(rule): \(error.detail)")
    }
}
