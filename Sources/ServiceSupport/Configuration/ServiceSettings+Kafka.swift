public import NotificationModel

extension ServiceSettings {
    /// `kafka.bootstrap.servers`: brokers as `host:port`, required.
    public mutating func bootstrapServers() -> [String] {
        let servers = list("kafka.bootstrap.servers", default: [], about: "Brokers as host:port. Required.")
        if servers.isEmpty {
            reject("kafka.bootstrap.servers", "is required: the brokers as host:port, with commas between")
        }
        return servers
    }

    /// `topics.prefix`, and `topics.<name>` of each topic that a service uses.
    ///
    /// - Parameter used: names as they are written in settings, such as `deadLetters`.
    public mutating func topicNames(_ used: Set<String>) -> TopicNames {
        let prefix = string(
            "topics.prefix",
            default: TopicNames.defaultPrefix,
            about: "What the topics' names begin with."
        )
        var own: [String: String] = [:]
        for name in used.sorted() {
            own[name] = optionalString(
                "topics.\(name)",
                about: "The whole name of the topic, where it differs from prefix and own name."
            )
        }
        let topics = TopicNames(
            prefix: prefix,
            businessEvents: own["businessEvents"],
            requests: own["requests"],
            deliveries: own["deliveries"],
            state: own["state"],
            deadLetters: own["deadLetters"]
        )
        do throws(ModelError) {
            try topics.validate()
        } catch {
            reject("topics.prefix", "gives a wrong name for \(error.field ?? "a topic"): \(error.detail)")
        }
        return topics
    }
}
