package import NotificationModel

/// A span that has ended, as OpenTelemetry describes it. Names and keys follow its semantic conventions; those that begin with
/// `carillon.` are our own. Attributes have no contents, tokens, recipients or identifiers.
package struct Span: Sendable, Hashable {
    /// With the numbers of the protocol.
    package enum Kind: Int, Sendable {
        case `internal` = 1
        case server, client, producer, consumer
    }

    /// The value of an attribute.
    package enum Value: Sendable, Hashable {
        case text(String)
        case number(Int64)
    }

    /// What was done, on what: `process carillon.requests`. Few different ones.
    package var name: String
    package var kind: Kind
    package var context: SpanContext
    /// The span that caused it, of the same trace; nil for the first one of a trace.
    package var parent: UInt64?
    /// Spans of other traces, or of another time, that belong to it.
    package var links: [SpanContext] = []
    /// Nanoseconds since 1970.
    package var start: UInt64
    /// Nanoseconds since 1970; not before `start`.
    package var end: UInt64
    package var attributes: [Attribute] = []
    /// `error.type`: a code; nil when it succeeded.
    package var error: String?

    /// A fact about a span.
    package struct Attribute: Sendable, Hashable {
        package var key: String
        package var value: Value
    }

    /// - Parameters:
    ///   - parent: nil for the first one of a trace.
    ///   - start: nanoseconds since 1970; it ends there, too, unless more is said.
    package init(
        _ name: String,
        _ kind: Kind,
        _ context: SpanContext,
        parent: SpanContext?,
        start: UInt64
    ) {
        (self.name, self.kind, self.context, self.parent) = (name, kind, context, parent?.span)
        (self.start, end) = (start, start)
    }

    /// Adds an attribute.
    package mutating func set(_ key: String, _ text: String) { attributes.append(.init(key: key, value: .text(text))) }

    /// Adds an attribute.
    package mutating func set(_ key: String, _ number: Int64) {
        attributes.append(.init(key: key, value: .number(number)))
    }
}

extension Span {
    /// Records that a topic gets: kind `producer`.
    ///
    /// - Parameters:
    ///   - id: of the span, derived from the record.
    ///   - parent: what caused the record.
    package static func sending(to topic: String, _ id: UInt64, parent: SpanContext, start: UInt64) -> Span {
        var span = Span("send \(topic)", .producer, parent.child(id), parent: parent, start: start)
        span.setMessaging("send", topic)
        return span
    }

    /// A record that is processed: kind `consumer`.
    ///
    /// - Parameters:
    ///   - parent: nil when the record begins the trace.
    ///   - group: the consumer group.
    package static func processing(
        _ topic: String,
        _ context: SpanContext,
        parent: SpanContext?,
        partition: Int32,
        offset: Int64,
        group: String,
        start: UInt64
    ) -> Span {
        var span = Span("process \(topic)", .consumer, context, parent: parent, start: start)
        span.setMessaging("process", topic)
        span.set("messaging.destination.partition.id", "\(partition)")
        span.set("messaging.kafka.offset", offset)
        span.set("messaging.consumer.group.name", group)
        return span
    }

    private mutating func setMessaging(_ operation: String, _ topic: String) {
        set("messaging.system", "kafka")
        set("messaging.operation.name", operation)
        set("messaging.operation.type", operation)
        set("messaging.destination.name", topic)
    }
}
