import Kafka
import NotificationModel
import ServiceHTTP

/// The applications that the sender of an event over HTTP may send to. They go with the event's record: which
/// applications an event concerns is known only when the rules are applied, maybe by another process.
enum EventScope {
    /// The header of the record. An event without it, which was written to Kafka, may concern every application.
    static let header = "carillon-applications"
    private static let name = Array(header.utf8)

    /// None for a sender that may send to all applications.
    static func headers(of applications: ApplicationSet) -> [KafkaHeader] {
        applications.text.map { [KafkaHeader(name: header, value: Array($0.utf8))] } ?? []
    }

    static func isHeader(_ name: UnsafeRawBufferPointer) -> Bool {
        name.count == Self.name.count && name.elementsEqual(Self.name)
    }

    /// - Parameter value: Of the header; nil without one. One that cannot be read allows nothing.
    static func applications(_ value: [UInt8]?) -> ApplicationSet {
        guard let value else { return .all }
        let text = String(validating: value, as: UTF8.self)
        return text.flatMap { try? ApplicationSet(text: $0) } ?? ApplicationSet([])
    }

    /// Why a rule's request is refused.
    static func refusal(of key: NotificationKey) -> ModelError {
        ModelError(
            .forbidden,
            field: "application",
            "the token of the event's sender is not good for the application of \(key)"
        )
    }
}
