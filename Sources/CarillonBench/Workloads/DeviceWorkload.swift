import Kafka
import NotificationModel

/// What comes with the recipients of a ``RequestWorkload``: their devices, the category of their notifications, and a
/// response to each notification. Tokens and ids are counters, so that batches compress.
struct DeviceWorkload: Sendable {
    var requests: RequestWorkload
    /// Devices of each recipient; with 0 the application has no categories either.
    var devices: Int

    /// Each recipient has one identifier.
    var recipients: Int { requests.newest.count }

    // MARK: - Devices and categories

    /// The value of the application's record on `categories`: the category that every request names.
    static let categories = Array(
        """
        {"categories":[{"identifier":"ORDER","actions":[\
        {"identifier":"track","title":"Track","options":["foreground"]},\
        {"identifier":"reply","title":"Reply","textInput":{"buttonTitle":"Send","placeholder":"Your message"}}],\
        "options":["customDismissAction"],"response":"forward","presentation":["banner","list","sound"]}]}
        """.utf8
    )

    /// The key of a registration on `devices`.
    ///
    /// - Parameters:
    ///   - device: from 0.
    ///   - index: of a request of the recipient.
    func key(ofDevice device: Int, index: Int) throws -> NotificationKey {
        let key = try requests.key(of: index)
        return try NotificationKey(
            application: key.application,
            recipient: key.recipient,
            identifier: "phone-\(device)"
        )
    }

    /// The value of a registration.
    func registration(ofDevice device: Int, index: Int) -> [UInt8] {
        let token = Pattern.digits(device, 8) + requests.identifier(of: index)
        return Array(
            """
            {"platform":"apns","token":"\(String(repeating: "0", count: 48))\(token)","environment":"production",\
            "bundleIdentifier":"com.example.shop","locale":"zh-Hans-CN","timeZone":"Asia/Shanghai","appVersion":"4.2",\
            "authorizationStatus":"authorized",\
            "settings":{"alert":"enabled","sound":"disabled","badge":"enabled"}}
            """.utf8
        )
    }

    /// Publishes the registrations and the category; blocking.
    ///
    /// - Throws: ``BenchmarkError`` when the embedded broker has not kept all of them.
    func register(on broker: BenchmarkBroker) throws {
        guard devices > 0 else { return }
        let headers = KafkaHeaderBuffer()
        var feed = try RecordFeed(broker.topics.categories, of: broker)
        let application = try CategoryKey.bytes(application: requests.key(of: 0).application)
        let home = KafkaPartitioner.partition(forKey: application, count: broker.partitions)
        try feed.put(application, Self.categories, headers, partition: home)
        try feed.finish()

        feed = try RecordFeed(broker.topics.devices, of: broker)
        for index in requests.newest {
            for device in 0..<devices {
                let key = try key(ofDevice: device, index: index)
                try feed.put(
                    key.encoded,
                    registration(ofDevice: device, index: index),
                    headers,
                    partition: Self.partition(of: key, on: broker)
                )
            }
        }
        try feed.finish()
        try TopicBounds(of: broker.topics.devices, on: broker).requireAll()
    }

    // MARK: - Responses

    /// The response to what a request has delivered.
    func response(to index: Int) throws -> ResponseSignal {
        let key = try requests.key(of: index)
        return ResponseSignal(
            application: key.application,
            identifier: key.identifier,
            requestID: try requests.requestID(of: index),
            responseID: try RequestID(text: "00000000-0000-5000-9000-\(Pattern.digits(index, 12))"),
            device: "phone-0",
            actionIdentifier: "reply",
            userText: "Thank you"
        )
    }

    /// Publishes a response to each notification that is shown once all requests are delivered; blocking.
    ///
    /// - Returns: how many records each partition has.
    func respond(on broker: BenchmarkBroker) throws -> [Int] {
        var feed = try RecordFeed(broker.topics.signals, of: broker)
        var headers = KafkaHeaderBuffer()
        let type = Array(SignalType.response.eventType.utf8)
        for index in requests.newest {
            let key = try requests.key(of: index)
            let recipient = try SignalKey.bytes(recipient: key.recipient)
            let response = try response(to: index)
            headers.removeAll()
            headers.append(Header.specVersion, "1.0")
            headers.append(Header.id) { response.responseID.write(to: &$0) }
            headers.append(Header.source, "/carillon/bench")
            headers.append(Header.type, type)
            headers.append(Header.subject, recipient)
            headers.append(Header.contentType, "application/json")
            try feed.put(
                recipient,
                Signal.response(response).json,
                headers,
                partition: Self.partition(of: key, on: broker)
            )
        }
        try feed.finish()
        return feed.counts
    }

    private enum Header {
        static let specVersion: KafkaHeaderName = "ce_specversion"
        static let id: KafkaHeaderName = "ce_id"
        static let source: KafkaHeaderName = "ce_source"
        static let type: KafkaHeaderName = "ce_type"
        static let subject: KafkaHeaderName = "ce_subject"
        static let contentType: KafkaHeaderName = "content-type"
    }

    private static func partition(of key: NotificationKey, on broker: BenchmarkBroker) -> Int32 {
        key.withRecipientBytes { KafkaPartitioner.partition(forKey: $0, count: broker.partitions) }
    }
}
