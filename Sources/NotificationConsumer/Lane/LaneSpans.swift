import Kafka
import NotificationDelivery
import NotificationModel
import NotificationState
import ServiceSupport
import ServiceTracing

/// The spans of a lane. They are made of what goes into turns and of their effects, beside the lifecycle; where nothing is
/// traced there are none. A class, because each effect is noted: a copy would count the record that it holds.
final class LaneSpans {
    private let tracer: Tracer
    private let topics: TopicNames
    private let group: String
    /// Of the record that is being applied; nil without one, and when it is not sampled.
    private var intake: Span?
    /// The record, if it has no trace: an answer to what was traced begins one.
    private var untraced: Intake.Record?
    /// Attempts in progress.
    let attempts: OpenSpans<Issued<ChannelSend>>
    /// Enrichments in progress.
    let enrichments: OpenSpans<Issued<EnrichmentWork>>

    init(_ tracer: Tracer, _ configuration: ConsumerServiceConfiguration) {
        (self.tracer, topics, group) = (tracer, configuration.topics, configuration.groupID)
        (attempts, enrichments) = (OpenSpans(tracer), OpenSpans(tracer))
    }

    // MARK: - Records

    /// Begins the intake of a record, which names that span from here on.
    func begin(_ record: inout Intake.Record) {
        let parent = record.trace.sampled
        untraced = record.trace.traceparent == nil ? record : nil
        intake = record.nameIntake().map { process(record, $0, parent: parent) }
    }

    /// Ends the intake.
    ///
    /// - Parameter error: why the record is a dead letter.
    func end(_ error: ModelError?) {
        if let intake { tracer.end(intake, error: error?.reason.rawValue) }
        (intake, untraced) = (nil, nil)
    }

    /// The record answers what a span has delivered. Without a trace of its own, it begins one.
    func answer(_ delivery: SpanContext) {
        if intake == nil, let record = untraced {
            let operation = record.operation
            intake = process(record, SpanContext(.init(of: operation), operation.value), parent: nil)
        }
        intake?.links.append(delivery)
    }

    private func process(_ record: Intake.Record, _ context: SpanContext, parent: SpanContext?) -> Span {
        .processing(
            topics[record.input],
            context,
            parent: parent,
            partition: record.partition,
            offset: record.offset,
            group: group,
            start: tracer.now
        )
    }

    // MARK: - Effects

    func fire(_ firing: Firing) {
        let isLinked = firing.span.trace != firing.request.trace
        let due = UInt64(max(0, firing.due.rawValue)) * 1_000_000
        var span = Span("fire trigger", .internal, firing.span, parent: isLinked ? nil : firing.request, start: due)
        if isLinked { span.links = [firing.request] }
        tracer.end(span)
    }

    /// Notes that an event is published.
    ///
    /// - Returns: the trace of its record, which names that span.
    func send(
        _ id: UUIDValue,
        _ type: StaticString,
        to topic: LaneTopic,
        _ trace: CarriedTrace
    ) -> CarriedTrace {
        guard let parent = trace.sampled else { return trace }
        let name = topic == .responses ? topics.responses : topics.deliveries
        var span = Span.sending(to: name, SpanHash.sending(id), parent: parent, start: tracer.now)
        span.set("messaging.message.id", "\(id)")
        span.set("cloudevents.event_type", "\(type)")
        tracer.record(span)
        return trace.naming(span.context)
    }

    /// The same for the event of a response, whose trace may have begun with it.
    func send(_ response: ResponseEvent, _ trace: CarriedTrace) -> CarriedTrace {
        var trace = trace
        if trace.traceparent == nil, let intake { trace = trace.naming(intake.context) }
        return send(response.eventID, ResponseEvent.type, to: .responses, trace)
    }

    /// Notes that a signal about another recipient is published; as above.
    func send(_ signal: Signal, to recipient: String, _ trace: CarriedTrace) -> CarriedTrace {
        guard let parent = trace.sampled else { return trace }
        var hash = SpanHash("send signal")
        hash.add(parent.span)
        hash.add(recipient.utf8)
        hash.add(signal.type.eventType.utf8)
        let span = Span.sending(to: topics.signals, hash.value, parent: parent, start: tracer.now)
        tracer.record(span)
        return trace.naming(span.context)
    }
}

extension Intake.Record {
    /// Its processing, from which the id of the span derives.
    fileprivate var operation: SpanHash {
        var hash = SpanHash("process")
        hash.add(UInt64(input.rawValue))
        hash.add(UInt64(bitPattern: Int64(partition)))
        hash.add(UInt64(bitPattern: offset))
        return hash
    }

    /// Lets the record name the span of its intake, so that all that it causes does. The same for each reading of the record.
    ///
    /// - Returns: the span; nil when the record is not sampled.
    @discardableResult
    mutating func nameIntake() -> SpanContext? {
        guard let parent = trace.sampled else { return nil }
        let written = Timestamp(rawValue: timestamp ?? 0)
        let span = parent.child(SpanContext.intake(operation, writtenAt: written))
        trace = trace.naming(span)
        return span
    }
}
