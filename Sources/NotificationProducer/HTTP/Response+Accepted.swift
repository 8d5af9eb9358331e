import Hummingbird
import Kafka
import NIOCore
import NotificationModel

/// 202: the broker has the record, and the consumer service will apply it.
extension Response {
    /// - Parameter write: Appends the members of the body's object.
    static func accepted(_ write: (inout [UInt8]) -> Void) -> Response {
        var json: [UInt8] = []
        json.reserveCapacity(160)
        JSONWriter.append("{", to: &json)
        write(&json)
        JSONWriter.append("}", to: &json)
        return Response(
            status: .accepted,
            headers: [.contentType: "application/json"],
            body: .init(byteBuffer: ByteBuffer(bytes: json))
        )
    }

    /// With the record's position.
    static func accepted(_ acknowledgement: KafkaAcknowledgement) -> Response {
        accepted { append(acknowledgement.topic, acknowledgement.partition, acknowledgement.offset, to: &$0) }
    }

    /// Appends the members of a record's position.
    static func append(_ topic: String, _ partition: Int32, _ offset: Int64, to json: inout [UInt8]) {
        JSONWriter.append("\"topic\":", to: &json)
        JSONWriter.append(string: topic, to: &json)
        JSONWriter.append(",\"partition\":", to: &json)
        JSONWriter.append(number: partition, to: &json)
        JSONWriter.append(",\"offset\":", to: &json)
        JSONWriter.append(number: offset, to: &json)
    }
}
