import ArgumentParser
import Kafka
import NotificationModel

/// `carillon topics check`: how the topics of a cluster differ from what they should be.
struct TopicsCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Explain how the topics of a cluster differ from what they should be.",
        discussion: """
            Each difference has a line with what was found, and one with its consequence. An error means that something is \
            lost, or that a service does not start; then the status is 1. It creates and changes nothing.

            What the cluster does not say is told as not seen: the settings of topics need the operation \
            DescribeConfigs, and topics that the client may not see look like missing ones.

            Examples:

              carillon topics check --bootstrap-servers kafka:9092
              carillon topics check --bootstrap-servers kafka:9092 --json
            """
    )

    @Flag(help: "One JSON object per difference.") var json = false

    @OptionGroup(title: "Kafka") var kafka: ConnectionOptions

    func run() async throws {
        try await CommandFailure.told(by: "carillon topics check") {
            let connection = try kafka.connection()
            let plans = connection.topicPlans()
            let (findings, signal) = try await Interruption.watched(thread: "topics") { stop in
                try connection.withTopicCluster { cluster in
                    try connection.asked(until: stop) { try cluster.topics(within: $0) }.map { known in
                        TopicView(known, of: cluster, plans, within: connection.timeout).findings(plans)
                    }
                }
            }
            guard let findings else { throw ExitCode(ExitStatus.ended(by: signal ?? 0)) }
            if json {
                for finding in findings { Terminal.write(json: finding.json.json + [0x0A]) }
            } else {
                Terminal.write(Self.text(findings, of: plans.count))
            }
            if findings.contains(where: { $0.level == .error }) { throw ExitCode(ExitStatus.failed) }
        }
    }

    /// All findings, and their number.
    static func text(_ findings: [TopicFinding], of topics: Int) -> String {
        func count(_ level: TopicFinding.Level, _ noun: String) -> String? {
            let number = findings.count { $0.level == level }
            return number == 0 ? nil : "\(number) \(noun)\(number == 1 ? "" : "s")"
        }
        let counts = [count(.error, "error"), count(.warning, "warning"), count(.unseen, "part not seen")]
            .compactMap(\.self)
        let summary = counts.isEmpty ? "all as they should be" : counts.joined(separator: ", ")
        return findings.map(\.text).joined() + "\(topics) topics: \(summary)\n"
    }
}
