import Foundation
import Kafka
import NotificationModel

/// Business events, and the rule that makes an immediate request of about 400 bytes of each.
enum EventWorkload {
    static let rules = """
        rules:
          - event: com.example.order.shipped
            application: shop
            recipient: "user-{{data.order}}"
            identifier: "order-{{data.order}}"
            content:
              title: "Your order is on its way"
              subtitle: "Order {{data.order}}"
              body: "The parcel \\"{{data.order}}\\" has left our warehouse and will be with you soon."
              badge: 3
              sound: bell.caf
              categoryIdentifier: ORDER
              threadIdentifier: orders
              interruptionLevel: active
              relevanceScore: 0.5
              userInfo: {orderId: "{{data.order}}", sent: "{{data.sent}}", customer: "{{data.customer}}"}

        """

    /// Writes the rules where a service can read them.
    static func writeRules() throws -> URL {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("carillon-bench-\(UUID()).yaml")
        try rules.write(to: url, atomically: true, encoding: .utf8)
        return url
    }

    static func key(of index: Int) -> [UInt8] {
        Array("order-\(RequestWorkload.digits(index * 7_919 % RequestWorkload.identifiers, 8))".utf8)
    }

    /// - Parameter sent: nanoseconds of a monotonic clock, or 0.
    static func data(of index: Int, sent: UInt64) -> [UInt8] {
        let order = RequestWorkload.digits(index * 7_919 % RequestWorkload.identifiers, 8)
        return Array(
            """
            {"order":"\(order)","sent":"\(RequestWorkload.digits(Int(sent), 20))",\
            "customer":{"name":"Ana Example","tier":"gold"},"items":[{"sku":"A-1","count":2},{"sku":"B-22","count":1}]}
            """.utf8
        )
    }

    private enum Header {
        static let specVersion: KafkaHeaderName = "ce_specversion"
        static let id: KafkaHeaderName = "ce_id"
        static let source: KafkaHeaderName = "ce_source"
        static let type: KafkaHeaderName = "ce_type"
        static let subject: KafkaHeaderName = "ce_subject"
        static let contentType: KafkaHeaderName = "content-type"
        static let traceparent: KafkaHeaderName = "traceparent"
    }

    static func writeHeaders(of index: Int, into buffer: inout KafkaHeaderBuffer) {
        let number = RequestWorkload.digits(index + 1, 16)
        buffer.removeAll()
        buffer.append(Header.specVersion, "1.0")
        buffer.append(Header.id) { $0.append(contentsOf: "event-\(number)".utf8) }
        buffer.append(Header.source, "/bench/shop")
        buffer.append(Header.type, "com.example.order.shipped")
        buffer.append(Header.subject) { $0.append(contentsOf: key(of: index)) }
        buffer.append(Header.contentType, "application/json")
        buffer.append(Header.traceparent) {
            $0.append(contentsOf: "00-0000000000000000\(number)-\(number)-01".utf8)
        }
    }
}
