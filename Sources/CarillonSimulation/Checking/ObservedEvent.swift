import Kafka
import NotificationModel

/// A delivery event as a reader of `deliveries` sees it.
struct ObservedEvent {
    var event: DeliveryEvent
    /// `ce_id`.
    var id: String
    /// `ce_time`: the owner's clock.
    var time: Timestamp
    var partition: Int32
    var offset: Int64
    /// The producer that wrote it.
    var writer: ProducerStamp?
    /// The generation of the group in which it was written.
    var generation: Int?

    /// - Throws: why it cannot be read.
    init(_ record: LogRecord, partition: Int32) throws(Violation) {
        func header(_ name: String) -> String? {
            record.headers.last { $0.name == name }?.value.map { String(decoding: $0, as: UTF8.self) }
        }
        guard let id = header("ce_id"), let type = header("ce_type"), let name = DeliveryEventName(type: type),
            let time = header("ce_time").flatMap({ Timestamp(rfc3339: $0) }), let value = record.value
        else { throw Violation(.eventIdentity, "a record of deliveries without its headers") }
        do throws(ModelError) {
            event = try DeliveryEvent(json: value, name: name)
        } catch {
            throw Violation(.eventIdentity, "an event that cannot be read: \(error.detail)")
        }
        (self.id, self.time, self.partition, offset) = (id, time, partition, record.offset)
        (writer, generation) = (record.producer, record.generation)
        var computed: [UInt8] = []
        event.writeEventID(to: &computed)
        guard String(decoding: computed, as: UTF8.self) == id, record.key == event.key.encoded else {
            throw Violation(.eventIdentity, "\(name.rawValue) of \(event.requestID.text) at \(offset)")
        }
    }

    /// For messages and the trace.
    var text: String {
        var text = "\(event.name.rawValue) \(event.requestID.text.prefix(8)) \(event.key.text)"
        if let occurrence = event.occurrence { text += " occurrence \(occurrence)" }
        if let first = event.first, let last = event.last { text += " \(first) to \(last)" }
        if let by = event.by { text += " by \(by.text.prefix(8))" }
        if let reason = event.reason { text += " \(reason.rawValue)" }
        if let into = event.into { text += " into \(into.text.prefix(8))" }
        if event.closes { text += " closes" }
        if event.inDoubt { text += " in doubt" }
        return text + " at \(time) (\(partition)/\(offset))"
    }
}
