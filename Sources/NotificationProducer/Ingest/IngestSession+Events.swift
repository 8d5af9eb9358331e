import Kafka
import NotificationModel
import NotificationPublisher
import ServiceHTTP
import ServiceSupport
import ServiceTracing

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
                guard event.type == RuleEngine.responseType else { return pass(over: record, .skipped) }
            }
            // All supported brokers set a timestamp.
            let arrived = record.timestamp.map { Timestamp(rawValue: $0) } ?? context.now()
            switch context.rules().apply(to: event, arrived: arrived) {
            case .noRule where record.partition.input == .businessEvents:
                throw RuleEngine.noRule(for: event)
            case .noRule, .skipped: pass(over: record, .skipped)
            case .ignored: pass(over: record, record.partition.input == .businessEvents ? .ignored : .skipped)
            case .applied(let outputs, let failures):
                publish(outputs, failures, event, record, copy)
            }
        } catch {
            metrics.count(.deadLettered)
            let slot = tracker.begin(record.partition, offset: record.offset, records: 1)
            send(deadLetter: copy(), of: record.partition, error, slot)
        }
    }

    private func pass(over record: IngestRecord, _ outcome: EventOutcome) {
        metrics.count(outcome)
        tracker.finish(record.partition, offset: record.offset)
    }

    private func publish(
        _ outputs: [RuleEngine.Output],
        _ failures: [RuleEngine.Failure],
        _ event: BusinessEvent,
        _ record: IngestRecord,
        _ copy: () -> KafkaConsumerRecord
    ) {
        var trace = event.trace
        let span = context.tracer.flatMap { begin(event, record, &trace, $0) }
        let allowed = EventScope.applications(record.scope)
        let effects = EventEffects(outputs, failures: failures, to: allowed, within: bound) { output in
            requestHeaders.largestRecord(key: output.key, valueBytes: output.value.count, trace: trace)
        }
        let records = effects.outputs.count + (effects.error == nil ? 0 : 1)
        let slot = tracker.begin(record.partition, offset: record.offset, records: records)
        let time = context.now()
        for output in effects.outputs {
            if !output.notConverted.isEmpty { metrics.unsaid.note(output.notConverted, logger) }
            requestHeaders.write(
                key: output.key,
                requestID: output.requestID,
                isRemoval: output.isRemoval,
                time: time,
                trace: span == nil ? trace : publishing(output.requestID, trace),
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
        if let span { context.tracer?.end(span, error: effects.error?.reason.rawValue) }
        metrics.count(effects.error == nil ? .published : .deadLettered)
        if let error = effects.error { send(deadLetter: copy(), of: record.partition, error, slot) }
    }

    // MARK: - Spans

    /// Begins the span of an event, which `trace` names from here on. An event without a trace may begin one.
    ///
    /// - Returns: nil when it is not sampled.
    private func begin(
        _ event: BusinessEvent,
        _ record: IngestRecord,
        _ trace: inout TraceContext?,
        _ tracer: Tracer
    ) -> Span? {
        if trace?.isUnsampledHere ?? false {
            trace = nil
            return nil
        }
        var operation = SpanHash("process event")
        operation.add(event)
        let parent = trace?.sampled
        let begun = trace == nil ? tracer.begin(with: operation) : parent?.child(operation.value)
        guard let span = begun else { return nil }
        trace = TraceContext(span, after: trace)
        return .processing(
            record.partition.input.name(in: configuration.topics),
            span,
            parent: parent,
            partition: record.partition.number,
            offset: record.offset,
            group: configuration.consumer.groupID ?? "",
            start: tracer.now
        )
    }

    /// Notes that a request is handed to the client of Kafka.
    ///
    /// - Returns: the trace of the record, which names that span.
    private func publishing(_ id: RequestID, _ trace: TraceContext?) -> TraceContext? {
        guard let tracer = context.tracer, let parent = trace?.sampled else { return trace }
        var hash = SpanHash("send")
        hash.add(id)
        let span = Span.sending(to: configuration.topics.requests, hash.value, parent: parent, start: tracer.now)
        tracer.record(span)
        return TraceContext(span.context, after: trace)
    }

    private func send(
        deadLetter read: KafkaConsumerRecord,
        of partition: IngestPartition,
        _ error: ModelError,
        _ slot: UInt
    ) {
        let place = DeadLetterLog.Place(topic: read.topic, partition: read.partition, offset: read.offset)
        letters.note(error, at: place, link.now, logger)
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
