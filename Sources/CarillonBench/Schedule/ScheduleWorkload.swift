import Kafka
import LocalBroker
import Logging
import NotificationModel
import NotificationPublisher

/// Requests of about 400 bytes for a later time, each with a key of its own.
struct ScheduleWorkload: Sendable {
    /// Far away: spread over four weeks, from tomorrow on.
    static let weeks = 4
    private static let day = 86_400_000

    let partitions: Int32

    /// When a request far away is due, in milliseconds from the record's timestamp; as if at random, and the same each time.
    static func farAway(_ index: Int) -> Int {
        var word = UInt64(index) &* 0x9E37_79B9_7F4A_7C15
        word = (word ^ word >> 30) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ word >> 27) &* 0x94D0_49BB_1331_11EB
        return day + Int((word ^ word >> 31) % UInt64(7 * weeks * day))
    }

    static func key(of index: Int) throws -> NotificationKey {
        let number = RequestWorkload.digits(index, 8)
        return try NotificationKey(application: "shop", recipient: "user-\(number)", identifier: "order-\(number)")
    }

    /// The number that a key was made of.
    static func index(of key: [UInt8]) -> Int? { Int(String(decoding: key.suffix(8), as: UTF8.self)) }

    /// - Parameters:
    ///   - number: eight digits
    ///   - interval: milliseconds
    static func body(_ number: String, interval: Int) -> String {
        let milliseconds = RequestWorkload.digits(interval % 1000, 3)
        return """
            {"requestId":"00000000-0000-5000-8000-0000\(number)","content":{"title":"Your order is on its way",\
            "subtitle":"Order \(number)","body":"The parcel \\"\(number)\\" leaves our warehouse soon.","badge":3,\
            "sound":"bell.caf","categoryIdentifier":"ORDER","threadIdentifier":"orders","interruptionLevel":"active",\
            "userInfo":{"orderId":"\(number)","customer":{"tier":"gold"}}},\
            "trigger":{"type":"timeInterval","timeInterval":\(interval / 1000).\(milliseconds)}}
            """
    }

    /// Publishes some requests; blocking.
    ///
    /// - Parameters:
    ///   - time: their timestamp
    ///   - interval: milliseconds from there
    func publish(
        _ range: Range<Int>,
        to topic: String,
        of broker: LocalBroker,
        at time: Timestamp,
        logger: Logger,
        interval: (Int) -> Int
    ) throws {
        var feed = try RecordFeed(topic, of: broker, logger: logger)
        let headers = RequestHeaders(source: "/carillon/bench")
        var buffer = KafkaHeaderBuffer()
        for index in range {
            let key = try Self.key(of: index)
            let number = RequestWorkload.digits(index, 8)
            headers.write(
                key: key,
                requestID: try RequestID(text: "00000000-0000-5000-8000-0000\(number)"),
                isRemoval: false,
                time: time,
                trace: nil,
                into: &buffer
            )
            try feed.put(
                key.encoded,
                Array(Self.body(number, interval: interval(index)).utf8),
                buffer,
                partition: key.withRecipientBytes { KafkaPartitioner.partition(forKey: $0, count: partitions) },
                timestamp: time.rawValue
            )
        }
        try feed.finish()
    }
}
