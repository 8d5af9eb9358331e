import ArgumentParser
import NotificationModel

/// How `carillon topics print` writes the plans.
enum TopicFormat: String, CaseIterable, ExpressibleByArgument, Sendable {
    /// Calls of Kafka's own `kafka-topics.sh`.
    case commands
    case json
    /// `KafkaTopic` resources of the operator Strimzi.
    case strimzi

    /// - Parameters:
    ///   - servers: For `commands`.
    ///   - cluster: The name of the `Kafka` resource, for `strimzi`.
    func text(_ plans: [TopicPlan], partitions: Int, replicas: Int, servers: String, cluster: String) -> String {
        switch self {
        case .commands:
            plans.map { plan in
                var words = [
                    "kafka-topics.sh --bootstrap-server \(Self.quoted(servers)) --create --if-not-exists",
                    "--topic \(plan.topic) --partitions \(partitions) --replication-factor \(replicas)",
                ]
                words += plan.settings.map { "--config \($0.name)=\($0.value)" }
                return words.joined(separator: " ") + "\n"
            }
            .joined()
        case .json:
            String(decoding: Self.json(plans, partitions, replicas).json, as: UTF8.self) + "\n"
        case .strimzi:
            plans.map { Self.resource($0, partitions, replicas, cluster) }.joined(separator: "---\n")
        }
    }

    private static func quoted(_ text: String) -> String {
        "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
    }

    private static func json(_ plans: [TopicPlan], _ partitions: Int, _ replicas: Int) -> JSONValue {
        .array(
            plans.map { plan in
                .object([
                    .init("topic", .string(plan.topic)), .init("partitions", .number("\(partitions)")),
                    .init("replicationFactor", .number("\(replicas)")),
                    .init("config", .object(plan.settings.map { .init($0.name, .string($0.value)) })),
                ])
            }
        )
    }

    private static func resource(_ plan: TopicPlan, _ partitions: Int, _ replicas: Int, _ cluster: String) -> String {
        var text = """
            apiVersion: kafka.strimzi.io/v1
            kind: KafkaTopic
            metadata:
              name: \(resourceName(of: plan.topic))
              labels:
                strimzi.io/cluster: \(cluster)
            spec:
              topicName: \(quotedYAML(plan.topic))
              partitions: \(partitions)
              replicas: \(replicas)
              config:

            """
        for (name, value) in plan.settings { text += "    \(name): \(quotedYAML(value))\n" }
        return text
    }

    /// Topic names and settings have no character that JSON escapes.
    private static func quotedYAML(_ text: String) -> String { "\"\(text)\"" }

    /// Kubernetes allows lower case, digits, `-` and `.`, and begins and ends with one of the former.
    static func resourceName(of topic: String) -> String {
        let name = topic.lowercased().map { $0 == "_" ? "-" : $0 }
        let trimmed = name.drop { $0 == "-" || $0 == "." }.reversed().drop { $0 == "-" || $0 == "." }.reversed()
        return trimmed.isEmpty ? "topic" : String(trimmed)
    }

    /// Whether Kubernetes takes the name of a cluster.
    static func isResourceName(_ name: String) -> Bool {
        name.utf8.count <= 253 && name.wholeMatch(of: /[a-z0-9]([a-z0-9.\-]*[a-z0-9])?/) != nil
    }
}

extension TopicFinding {
    /// For people: what is wrong, and the consequence below it.
    var text: String {
        let name = level == .unseen ? "not seen" : level.rawValue
        let subject = topics.isEmpty ? "" : RecordText.safe(topics.joined(separator: ", ")) + ": "
        return "\(name): \(subject)\(RecordText.safe(what))\n    \(RecordText.safe(consequence))\n"
    }

    var json: JSONValue {
        .object([
            .init("level", .string(level.rawValue)), .init("topics", .array(topics.map { .string($0) })),
            .init("what", .string(what)),
            .init("consequence", .string(consequence)),
        ])
    }
}
