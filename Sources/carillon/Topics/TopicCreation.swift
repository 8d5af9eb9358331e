import Kafka
import NotificationModel

/// Which topics are to be created, and what became of each.
struct TopicCreation: Sendable {
    /// What became of one.
    struct Outcome: Sendable, Hashable {
        enum Kind: Sendable, Hashable {
            case created(KafkaAdmin.NewTopic)
            case existed
            case refused(String)
        }

        var topic: String
        var kind: Kind

        var isFailure: Bool {
            if case .refused = kind { true } else { false }
        }

        var text: String {
            let name = RecordText.safe(topic)
            return switch kind {
            case .created(let new):
                "\(name): created, \(new.partitions) partitions, replication factor \(new.replicas)\n"
            case .existed: "\(name): exists, not changed\n"
            case .refused(let why): "\(name): refused: \(RecordText.safe(why))\n"
            }
        }

        var json: JSONValue {
            var members: [JSONValue.Member] = [.init("topic", .string(topic))]
            switch kind {
            case .created: members.append(.init("outcome", .string("created")))
            case .existed: members.append(.init("outcome", .string("exists")))
            case .refused(let why): members += [.init("outcome", .string("refused")), .init("detail", .string(why))]
            }
            return .object(members)
        }
    }

    private let plans: [TopicPlan]
    let missing: [KafkaAdmin.NewTopic]

    /// - Parameters:
    ///   - partitions: Nil for those of `requests`.
    ///   - known: The topics that exist.
    /// - Throws: ``CommandFailure`` when another number of partitions is asked for than the topics have that go with the new ones.
    init(
        _ plans: [TopicPlan],
        partitions: Int?,
        replicas: Int,
        _ known: [String: KafkaAdmin.Topic]
    ) throws(CommandFailure) {
        self.plans = plans
        let beside = plans.filter(\.isCoPartitioned).compactMap { plan in
            known[plan.topic].map { (plan: plan, count: $0.partitions) }
        }
        let found = beside.first { $0.plan.name == "requests" } ?? beside.first
        let missing = plans.filter { known[$0.topic] == nil }
        if let found, let partitions, partitions != found.count, missing.contains(where: \.isCoPartitioned) {
            throw CommandFailure(
                "\(found.plan.topic) has \(found.count) partitions: the topics that are missing need as many, not \(partitions)",
                status: ExitStatus.usage
            )
        }
        let count = partitions ?? found?.count ?? TopicSizes.usualPartitions
        self.missing = missing.map { plan in
            KafkaAdmin.NewTopic(
                name: plan.topic,
                partitions: count,
                replicas: replicas,
                settings: Dictionary(plan.settings.map { ($0.name, $0.value) }) { first, _ in first }
            )
        }
    }

    /// - Parameter refused: What the cluster said against topics.
    func outcomes(refused: [String: KafkaError]) -> [Outcome] {
        let new = Dictionary(missing.map { ($0.name, $0) }) { first, _ in first }
        return plans.map { plan in
            guard let topic = new[plan.topic] else { return Outcome(topic: plan.topic, kind: .existed) }
            guard let error = refused[plan.topic] else { return Outcome(topic: plan.topic, kind: .created(topic)) }
            // Someone else created it meanwhile.
            guard error.code != .topicAlreadyExists else { return Outcome(topic: plan.topic, kind: .existed) }
            return Outcome(topic: plan.topic, kind: .refused(error.reason))
        }
    }
}
