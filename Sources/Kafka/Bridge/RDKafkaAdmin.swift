import CRDKafka

/// Admin requests; each waits for its own answer, and blocks.
extension RDKafkaHandle {
    /// The settings of topics by topic and name.
    func settings(of topics: [String], within time: Duration) throws(KafkaError) -> [String: [String: String]] {
        guard !topics.isEmpty else { return [:] }
        var resources: [OpaquePointer?] = topics.map { rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, $0) }
        defer { rd_kafka_ConfigResource_destroy_array(&resources, resources.count) }
        let what = "the settings of topics"
        return try answer(RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS, what, within: time) { options, queue in
            rd_kafka_DescribeConfigs(pointer, &resources, resources.count, options, queue)
        } read: { event throws(KafkaError) in
            var count = 0
            let found = rd_kafka_DescribeConfigs_result_resources(
                rd_kafka_event_DescribeConfigs_result(event),
                &count
            )
            var settings: [String: [String: String]] = [:]
            for index in 0..<count {
                guard let resource = found?[index], let name = rd_kafka_ConfigResource_name(resource) else { continue }
                let topic = String(cString: name)
                try KafkaError.check(rd_kafka_ConfigResource_error(resource), doing: "the settings of topic \(topic)")
                settings[topic] = Self.entries(of: resource)
            }
            return settings
        }
    }

    private static func entries(of resource: OpaquePointer) -> [String: String] {
        var count = 0
        let entries = rd_kafka_ConfigResource_configs(resource, &count)
        var values: [String: String] = [:]
        for index in 0..<count {
            guard let entry = entries?[index], let name = rd_kafka_ConfigEntry_name(entry),
                let value = rd_kafka_ConfigEntry_value(entry), rd_kafka_ConfigEntry_is_sensitive(entry) == 0
            else { continue }
            values[String(cString: name)] = String(cString: value)
        }
        return values
    }

    /// Creates topics, and returns the errors by topic.
    func create(_ topics: [KafkaAdmin.NewTopic], within time: Duration) throws(KafkaError) -> [String: KafkaError] {
        guard !topics.isEmpty else { return [:] }
        var made: [OpaquePointer?] = []
        defer { rd_kafka_NewTopic_destroy_array(&made, made.count) }
        for topic in topics { made.append(try Self.make(topic)) }
        return try answer(RD_KAFKA_ADMIN_OP_CREATETOPICS, "the creation of topics", within: time) { options, queue in
            rd_kafka_CreateTopics(pointer, &made, made.count, options, queue)
        } read: { event throws(KafkaError) in
            var count = 0
            let results = rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event), &count)
            var errors: [String: KafkaError] = [:]
            for index in 0..<count {
                guard let result = results?[index], let name = rd_kafka_topic_result_name(result) else { continue }
                let code = rd_kafka_topic_result_error(result)
                guard code != RD_KAFKA_RESP_ERR_NO_ERROR else { continue }
                let topic = String(cString: name)
                var error = KafkaError(code, doing: "topic \(topic)")
                if let said = rd_kafka_topic_result_error_string(result) {
                    error.reason = "topic \(topic): \(String(cString: said))"
                }
                errors[topic] = error
            }
            return errors
        }
    }

    private static func make(_ topic: KafkaAdmin.NewTopic) throws(KafkaError) -> OpaquePointer {
        var text = [CChar](repeating: 0, count: 512)
        let (partitions, replicas) = (Int32(clamping: topic.partitions), Int32(clamping: topic.replicas))
        guard let made = rd_kafka_NewTopic_new(topic.name, partitions, replicas, &text, text.count) else {
            let why = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            throw KafkaError(code: .invalidArgument, reason: "topic \(topic.name): \(why)")
        }
        for (name, value) in topic.settings.sorted(by: { $0.key < $1.key }) {
            let code = rd_kafka_NewTopic_set_config(made, name, value)
            guard code == RD_KAFKA_RESP_ERR_NO_ERROR else {
                rd_kafka_NewTopic_destroy(made)
                throw KafkaError(code, doing: "topic \(topic.name): setting \(name)")
            }
        }
        return made
    }

    /// Sends a request, and reads its answer from a queue of its own.
    private func answer<Answer>(
        _ request: rd_kafka_admin_op_t,
        _ what: String,
        within time: Duration,
        send: (_ options: OpaquePointer?, _ queue: OpaquePointer) -> Void,
        read: (_ event: OpaquePointer) throws(KafkaError) -> Answer
    ) throws(KafkaError) -> Answer {
        let milliseconds = min(max(1, time.librdkafkaMilliseconds), 3_600_000)
        var text = [CChar](repeating: 0, count: 512)
        let options = rd_kafka_AdminOptions_new(pointer, request)
        defer { if let options { rd_kafka_AdminOptions_destroy(options) } }
        try KafkaError.check(
            rd_kafka_AdminOptions_set_request_timeout(options, milliseconds, &text, text.count),
            doing: what
        )
        guard let queue = rd_kafka_queue_new(pointer) else {
            throw KafkaError(RD_KAFKA_RESP_ERR__FAIL, doing: what)
        }
        defer { rd_kafka_queue_destroy(queue) }
        send(options, queue)
        // The client answers its own time-out; the wait is only longer.
        guard let event = rd_kafka_queue_poll(queue, milliseconds + 1000) else {
            throw KafkaError(RD_KAFKA_RESP_ERR__TIMED_OUT, doing: what)
        }
        defer { rd_kafka_event_destroy(event) }
        let code = rd_kafka_event_error(event)
        if code != RD_KAFKA_RESP_ERR_NO_ERROR {
            var error = KafkaError(code, doing: what)
            if let said = rd_kafka_event_error_string(event) { error.reason = "\(what): \(String(cString: said))" }
            throw error
        }
        return try read(event)
    }
}
