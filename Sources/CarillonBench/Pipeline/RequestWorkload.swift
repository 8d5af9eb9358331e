import Kafka
import LocalBroker
import Logging
import NotificationModel
import NotificationPublisher

/// Immediate requests of about 400 bytes over 50,000 identifiers, the same bytes in every run; one in four has text beyond
/// ASCII, every body has escaped quotes. Ids are counters, so that batches compress: the embedded broker keeps 5 MiB a
/// partition.
struct RequestWorkload: Sendable {
    static let identifiers = 50_000

    var records: Int
    var partitions: Int32

    func key(of index: Int) throws -> NotificationKey {
        let number = Self.digits(index * 7_919 % Self.identifiers, 8)
        return try NotificationKey(application: "shop", recipient: "user-\(number)", identifier: "order-\(number)")
    }

    func requestID(of index: Int) throws -> RequestID {
        try RequestID(text: "00000000-0000-5000-8000-\(Self.digits(index, 12))")
    }

    func value(of index: Int) -> [UInt8] {
        let order = Self.digits(index * 7_919 % Self.identifiers, 8)
        let title = index % 4 == 0 ? "您的订单已发货" : "Your order is on its way"
        return Array(
            """
            {"requestId":"00000000-0000-5000-8000-\(Self.digits(index, 12))","content":{"title":"\(title)",\
            "subtitle":"Order \(order)","body":"The parcel \\"\(order)\\" has left our warehouse and will be with you soon.",\
            "badge":3,"sound":"bell.caf","categoryIdentifier":"ORDER","threadIdentifier":"orders",\
            "interruptionLevel":"active","relevanceScore":0.5,\
            "userInfo":{"orderId":"\(order)","items":[1,2,3],"customer":{"tier":"gold"}}}}
            """.utf8
        )
    }

    func trace(of index: Int) -> TraceContext? {
        let number = Self.digits(index + 1, 16)
        return TraceContext(traceparent: "00-0000000000000000\(number)-\(number)-01", tracestate: nil)
    }

    /// Publishes all of it; blocking.
    ///
    /// - Returns: how many records each partition has.
    func fill(_ topic: String, of broker: LocalBroker, time: Timestamp, logger: Logger) throws -> [Int] {
        var feed = try RecordFeed(topic, of: broker, logger: logger)
        let headers = RequestHeaders(source: "/carillon/bench")
        var buffer = KafkaHeaderBuffer()
        for index in 0..<records {
            let key = try key(of: index)
            headers.write(
                key: key,
                requestID: try requestID(of: index),
                isRemoval: false,
                time: time,
                trace: trace(of: index),
                into: &buffer
            )
            let partition = key.withRecipientBytes { KafkaPartitioner.partition(forKey: $0, count: partitions) }
            try feed.put(key.encoded, value(of: index), buffer, partition: partition)
        }
        try feed.finish()
        return feed.counts
    }

    /// A number with leading zeros.
    static func digits(_ number: Int, _ count: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, count - text.count)) + text
    }
}
