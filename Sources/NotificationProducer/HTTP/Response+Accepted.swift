import Hummingbird
import Kafka
import NIOCore
import NotificationModel

/// 202: the broker has the record, and the consumer service will apply it.
extension Response {
    /// - Parameter write: Appends the members of the body's object.
    static func accepted(_ write: (inout JSONObjectWriter, inout [UInt8]) -> Void) -> Response {
        Response(
            status: .accepted,
            headers: [.contentType: "application/json"],
            body: .init(byteBuffer: ByteBuffer(bytes: JSONObjectWriter.object(write)))
        )
    }

    /// With the record's position.
    static func accepted(_ acknowledgement: KafkaAcknowledgement) -> Response {
        accepted { $0.place(acknowledgement.topic, acknowledgement.partition, acknowledgement.offset, &$1) }
    }
}

extension JSONObjectWriter {
    /// Appends the members of a record's position.
    mutating func place(_ topic: String, _ partition: Int32, _ offset: Int64, _ out: inout [UInt8]) {
        member("topic", topic, &out)
        member("partition", Int64(partition), &out)
        member("offset", offset, &out)
    }
}
