import Kafka
import NotificationModel
import NotificationPublisher

/// Immediate requests of about 400 bytes over 50,000 identifiers, the same bytes in every run; one in four has
/// non-ASCII text, every body has escaped quotes. Ids are counters, so that batches compress: the embedded broker keeps
/// 5 MiB per partition.
struct RequestWorkload: Sendable {
    static let identifiers = 50_000

    var records: Int
    var partitions: Int32
    /// Over so many identifiers.
    private(set) var identifiers = Self.identifiers
    /// The share of requests whose trace is sampled, from 0 to 1.
    var sampled = 1.0
    /// Whether each request names the thread `orders`.
    var namesThread = true

    init(records: Int, partitions: Int32) { (self.records, self.partitions) = (records, partitions) }

    /// Requests of different identifiers.
    init(distinct records: Int, partitions: Int32) {
        self.init(records: records, partitions: partitions)
        // A number that the step between identifiers does not divide.
        identifiers = records % Self.step == 0 ? records + 1 : records
    }

    private static let step = 7_919

    var name: String {
        "\(records) requests over \(partitions) partitions" + (namesThread ? "" : ", of no thread")
    }

    /// Eight digits.
    func identifier(of index: Int) -> String { Pattern.digits(index * Self.step % identifiers, 8) }

    /// The requests that no later one of the same identifier replaces.
    var newest: Range<Int> { max(0, records - identifiers)..<records }

    /// Each identifier has its own recipient.
    func key(of index: Int) throws -> NotificationKey {
        let number = identifier(of: index)
        return try NotificationKey(application: "shop", recipient: "user-\(number)", identifier: "order-\(number)")
    }

    func requestID(of index: Int) throws -> RequestID {
        try RequestID(text: "00000000-0000-5000-8000-\(Pattern.digits(index, 12))")
    }

    /// The request's JSON.
    func value(of index: Int) -> [UInt8] {
        let order = identifier(of: index)
        let title = index % 4 == 0 ? "您的订单已发货" : "Your order is on its way"
        let thread = namesThread ? #""threadIdentifier":"orders","# : ""
        return Array(
            """
            {"requestId":"00000000-0000-5000-8000-\(Pattern.digits(index, 12))","content":{"title":"\(title)",\
            "subtitle":"Order \(order)","body":"The parcel \\"\(order)\\" has left our warehouse and will be with you soon.",\
            "badge":3,"sound":"bell.caf","categoryIdentifier":"ORDER",\(thread)\
            "interruptionLevel":"active","relevanceScore":0.5,\
            "userInfo":{"orderId":"\(order)","items":[1,2,3],"customer":{"tier":"gold"}}}}
            """.utf8
        )
    }

    func trace(of index: Int) -> TraceContext? {
        let number = Pattern.digits(index + 1, 16)
        let flags = Double(Pattern.mixed(index) >> 11) * 0x1p-53 < sampled ? "01" : "00"
        return TraceContext(traceparent: "00-0000000000000000\(number)-\(number)-\(flags)", tracestate: nil)
    }

    /// Publishes all of them; blocking.
    ///
    /// - Returns: how many records each partition has.
    /// - Throws: ``BenchmarkError`` when the embedded broker has not kept all of them: a program would be waited for in vain.
    func fill(_ broker: BenchmarkBroker) throws -> [Int] {
        var feed = try RecordFeed(broker.topics.requests, of: broker)
        let headers = RequestHeaders(source: "/carillon/bench")
        var buffer = KafkaHeaderBuffer()
        for index in 0..<records {
            let key = try key(of: index)
            headers.write(
                key: key,
                requestID: try requestID(of: index),
                isRemoval: false,
                time: Timestamp(rawValue: 0),
                trace: trace(of: index),
                into: &buffer
            )
            let partition = key.withRecipientBytes { KafkaPartitioner.partition(forKey: $0, count: partitions) }
            try feed.put(key.encoded, value(of: index), buffer, partition: partition)
        }
        try feed.finish()
        try TopicBounds(of: broker.topics.requests, on: broker).requireAll()
        return feed.counts
    }
}

/// Business events that `Resources/rules.yaml` converts to immediate requests of about 400 bytes.
enum EventWorkload {
    static func key(of index: Int) -> [UInt8] {
        Array("order-\(Pattern.digits(index * 7_919 % RequestWorkload.identifiers, 8))".utf8)
    }

    /// - Parameter sent: nanoseconds of a monotonic clock, or 0.
    static func data(of index: Int, sent: UInt64) -> [UInt8] {
        let order = Pattern.digits(index * 7_919 % RequestWorkload.identifiers, 8)
        return Array(
            """
            {"order":"\(order)","sent":"\(Pattern.digits(Int(sent), 20))",\
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
        let number = Pattern.digits(index + 1, 16)
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

/// Requests of about 400 bytes for a later time, each with its own key.
enum ScheduleWorkload {
    /// The due times are spread over four weeks, from tomorrow on.
    private static let weeks = 4
    private static let day = 86_400_000

    /// The due time of such a request, in milliseconds after the record's timestamp; pseudorandom, and the same each
    /// time.
    static func farAway(_ index: Int) -> Int {
        day + Int(Pattern.mixed(index) % UInt64(7 * weeks * day))
    }

    private static func key(of index: Int) throws -> NotificationKey {
        let number = Pattern.digits(index, 8)
        return try NotificationKey(application: "shop", recipient: "user-\(number)", identifier: "order-\(number)")
    }

    /// The number in a key.
    static func index(of key: [UInt8]) -> Int? { Int(String(decoding: key.suffix(8), as: UTF8.self)) }

    /// - Parameters:
    ///   - number: eight digits
    ///   - interval: milliseconds
    static func body(_ number: String, interval: Int) -> String {
        let milliseconds = Pattern.digits(interval % 1000, 3)
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
    ///   - time: Their timestamp.
    ///   - interval: The due time of each, in milliseconds after it.
    static func publish(
        _ range: Range<Int>,
        to broker: BenchmarkBroker,
        at time: Timestamp,
        interval: (Int) -> Int
    ) throws {
        try publish(range, to: broker, at: time) { body(Pattern.digits($0, 8), interval: interval($0)) }
    }

    /// Publishes some requests; blocking.
    ///
    /// - Parameters:
    ///   - time: Their timestamp.
    ///   - body: The value of each.
    static func publish(
        _ range: Range<Int>,
        to broker: BenchmarkBroker,
        at time: Timestamp,
        body: (Int) -> String
    ) throws {
        var feed = try RecordFeed(broker.topics.requests, of: broker)
        let headers = RequestHeaders(source: "/carillon/bench")
        var buffer = KafkaHeaderBuffer()
        for index in range {
            let key = try key(of: index)
            let number = Pattern.digits(index, 8)
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
                Array(body(index).utf8),
                buffer,
                partition: key.withRecipientBytes { KafkaPartitioner.partition(forKey: $0, count: broker.partitions) },
                timestamp: time.rawValue
            )
        }
        try feed.finish()
    }
}

/// The parts of workloads: the same in every run.
enum Pattern {
    /// A number with leading zeros.
    static func digits(_ number: Int, _ count: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, count - text.count)) + text
    }

    /// A number that looks random.
    static func mixed(_ number: Int) -> UInt64 {
        SplitMix64.mixed(UInt64(bitPattern: Int64(number)) &* SplitMix64.step)
    }
}
