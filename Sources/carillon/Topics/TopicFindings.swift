import Kafka
import NotificationModel

/// What can be asked of a cluster about its topics; the calls block.
protocol TopicCluster {
    func clusterID(within time: Duration) throws(KafkaError) -> String?
    func topics(within time: Duration) throws(KafkaError) -> [String: KafkaAdmin.Topic]
    func settings(of topics: [String], within time: Duration) throws(KafkaError) -> [String: [String: String]]
    func create(_ topics: [KafkaAdmin.NewTopic], within time: Duration) throws(KafkaError) -> [String: KafkaError]
}

extension KafkaAdmin: TopicCluster {}

/// Something about a topic that differs from what it should be, with its consequence.
struct TopicFinding: Sendable, Hashable {
    enum Level: String, Sendable {
        /// Something is lost, or a service does not start.
        case error
        case warning
        /// The cluster did not say it.
        case unseen
    }

    var level: Level
    /// Full names; empty when it concerns all of them.
    var topics: [String]
    /// What is wrong; one sentence without its end.
    var what: String
    /// What happens, and what to do.
    var consequence: String
}

/// What was seen of a cluster's topics.
struct TopicView: Sendable {
    var topics: [String: KafkaAdmin.Topic] = [:]
    /// By topic and name.
    var settings: [String: [String: String]] = [:]
    /// Why no settings were seen.
    var unseen: String?

    /// Asks a cluster.
    ///
    /// - Parameters:
    ///   - known: Its topics.
    ///   - time: For their settings.
    init(
        _ known: [String: KafkaAdmin.Topic],
        of cluster: some TopicCluster,
        _ plans: [TopicPlan],
        within time: Duration
    ) {
        topics = known
        let names = plans.map(\.topic).filter { known[$0] != nil }
        guard !names.isEmpty else { return }
        do throws(KafkaError) {
            if let id = try cluster.clusterID(within: time), KafkaMockCluster.isMock(clusterID: id) {
                unseen = "the embedded broker has none"
            } else {
                settings = try cluster.settings(of: names, within: time)
            }
        } catch {
            unseen = error.code == .unsupportedFeature ? "the brokers do not answer this request" : error.reason
        }
    }

    init(topics: [String: KafkaAdmin.Topic], settings: [String: [String: String]], unseen: String? = nil) {
        (self.topics, self.settings, self.unseen) = (topics, settings, unseen)
    }

    /// How the topics differ from the plans, in the order of the plans; what is the same of several is one finding.
    func findings(_ plans: [TopicPlan]) -> [TopicFinding] {
        var findings: [TopicFinding] = []
        for finding in eachFinding(plans) {
            let same = findings.firstIndex {
                ($0.level, $0.what, $0.consequence) == (finding.level, finding.what, finding.consequence)
            }
            if let same { findings[same].topics += finding.topics } else { findings.append(finding) }
        }
        return findings
    }

    private func eachFinding(_ plans: [TopicPlan]) -> [TopicFinding] {
        var findings = plans.flatMap { plan in
            guard let topic = topics[plan.topic] else { return [Self.missing(plan)] }
            return replication(plan, topic) + expectations(plan)
        }
        findings += partitions(plans)
        if let unseen {
            findings.append(
                TopicFinding(
                    level: .unseen,
                    topics: [],
                    what: "what settings the topics have: \(unseen)",
                    consequence:
                        "cleanup, retention and sizes are not checked; a client needs DescribeConfigs of the topics"
                )
            )
        }
        return findings
    }

    private static func missing(_ plan: TopicPlan) -> TopicFinding {
        TopicFinding(
            level: plan.withoutIt == nil ? .error : .warning,
            topics: [plan.topic],
            what: "does not exist, or the client may not see it",
            consequence: (plan.withoutIt ?? "the services that use it wait until it exists")
                + "; 'carillon topics create' creates it"
        )
    }

    private func partitions(_ plans: [TopicPlan]) -> [TopicFinding] {
        let counts = plans.filter(\.isCoPartitioned).compactMap { plan in
            topics[plan.topic].map { (plan: plan, count: $0.partitions) }
        }
        guard let right = (counts.first { $0.plan.name == "requests" } ?? counts.first) else { return [] }
        return counts.filter { $0.count != right.count }.map { plan, count in
            let isFatal = plan.name != "tokens"
            return TopicFinding(
                level: isFatal ? .error : .warning,
                topics: [plan.topic],
                what: "has \(count) partitions, \(right.plan.topic) has \(right.count)",
                consequence: isFatal
                    ? "the consumer service does not start: make the numbers equal, on new topics if records exist"
                    : "tokens that move to another recipient are not followed: make the numbers equal"
            )
        }
    }

    private func replication(_ plan: TopicPlan, _ topic: KafkaAdmin.Topic) -> [TopicFinding] {
        let minimum = settings[plan.topic]?["min.insync.replicas"].flatMap { Int($0) }
        func finding(_ what: String, _ consequence: String) -> [TopicFinding] {
            [TopicFinding(level: .warning, topics: [plan.topic], what: what, consequence: consequence)]
        }
        if topic.replicas <= 1 {
            return finding("has one replica", "its records are lost with the broker that has them: use 3")
        }
        guard let minimum else { return [] }
        if minimum <= 1 {
            return finding(
                "min.insync.replicas is \(minimum)",
                "a record that was acknowledged is lost when the only broker that has it fails: set it to "
                    + "\(topic.replicas - 1)"
            )
        }
        guard minimum >= topic.replicas else { return [] }
        return finding(
            "min.insync.replicas is \(minimum) of \(topic.replicas) replicas",
            "nothing can be written while one broker is away: set it to \(topic.replicas - 1)"
        )
    }

    private func expectations(_ plan: TopicPlan) -> [TopicFinding] {
        guard let settings = settings[plan.topic] else { return [] }
        return plan.expectations.compactMap { expectation in
            guard let value = settings[expectation.setting], expectation.rule.holds(for: value) == false else {
                return nil
            }
            let right = plan.settings.first { $0.name == expectation.setting }
            let wanted = right.map { "; it should be \($0.value)" } ?? ""
            return TopicFinding(
                level: expectation.isSerious ? .error : .warning,
                topics: [plan.topic],
                what: "\(expectation.setting) is \(value)\(wanted)",
                consequence: expectation.consequence
            )
        }
    }
}
