import Foundation
import Kafka
import NotificationChannels
import NotificationDelivery
import NotificationModel
import ServiceSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The later phases: brokers, topics, directories and the servers of channels. Nothing is created, written or sent to a device.
struct EnvironmentCheck: Sendable {
    let service: CheckedService
    /// Of the brokers, and of each server.
    let timeout: Duration
    let tell: @Sendable (CheckStep) -> Void

    func run() async throws {
        for (setting, path) in service.directories {
            tell(CheckStep(phase: .environment, what: "the directory of \(setting)", result: Self.directory(path)))
        }
        try await kafka()
        for channel in service.channels {
            for probe in (channel as? any ProbedChannel)?.probes ?? [] {
                tell(
                    CheckStep(
                        phase: .environment,
                        what: probe.what,
                        result: Self.result(of: await probe.outcome(within: timeout))
                    )
                )
            }
            await channel.close()
        }
        if let collector = service.collector {
            let result = Self.result(of: try await collector.outcome(within: timeout), at: collector.origin)
            tell(CheckStep(phase: .environment, what: "the collector of spans", result: result))
        }
    }

    /// Without its collector a service works: spans are dropped.
    static func result(of outcome: CollectorProbe.Outcome, at origin: String) -> CheckStep.Result {
        switch outcome {
        case .taken: .passed("\(origin) takes them")
        case .refused(let status):
            .warning("\(origin) answers status \(status): check the path of tracing.endpoint, and tracing.headers.file")
        case .unreachable(let why): .warning("\(origin) \(why): check tracing.endpoint, and tracing.ca.file")
        }
    }

    static func result(of outcome: ChannelProbe.Outcome) -> CheckStep.Result {
        switch outcome {
        case .reached(let detail): .passed(detail)
        case .refused(let detail): .failed(detail, status: ExitStatus.failed)
        case .unreachable(let detail):
            .failed("\(detail); check the network, the proxy and the setting", status: ExitStatus.unavailable)
        }
    }

    /// A start creates a directory that is missing.
    static func directory(_ path: String) -> CheckStep.Result {
        var isDirectory = ObjCBool(false)
        if FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) {
            guard isDirectory.boolValue else {
                return .failed("\(path) is no directory", status: ExitStatus.settings)
            }
            return access(path, W_OK | X_OK) == 0
                ? .passed("\(path) can be written")
                : .failed("\(path) cannot be written by this user", status: ExitStatus.settings)
        }
        var parent = (path as NSString).deletingLastPathComponent
        while !parent.isEmpty, parent != "/", !FileManager.default.fileExists(atPath: parent) {
            parent = (parent as NSString).deletingLastPathComponent
        }
        if parent.isEmpty { parent = "." }
        return access(parent, W_OK | X_OK) == 0
            ? .passed("\(path) will be created")
            : .failed(
                "\(path) does not exist, and \(parent) cannot be written by this user",
                status: ExitStatus.settings
            )
    }

    // MARK: - Kafka

    private func kafka() async throws {
        let shared = service.shared
        let connection = Connection(
            bootstrapServers: shared.bootstrapServers,
            properties: shared.kafkaProperties,
            topics: shared.topics,
            defaultApplication: "",
            timeout: timeout
        )
        let plans = connection.topicPlans(deletionsKept: service.deletionsKept.milliseconds)
            .filter { service.topics.contains($0.name) }
        do {
            let (id, view) = try await KafkaThread.run(name: "check") { try Self.look(connection, plans) }
            let (guarantee, why) = DeliveryGuarantee.choose(asked: shared.guarantee, on: id)
            let detail = "\(connection.servers) answers; guarantee \(guarantee.rawValue): \(why)"
            tell(CheckStep(phase: .environment, what: "Kafka", result: .passed(detail)))
            for step in Self.steps(of: view.findings(plans), plans.count) { tell(step) }
        } catch let failure as CommandFailure {
            let result = CheckStep.Result.failed(failure.description, status: failure.status)
            tell(CheckStep(phase: .environment, what: "Kafka", result: result))
            tell(CheckStep(phase: .topology, what: "topics", result: .skipped("no broker tells them")))
        }
    }

    /// Blocking.
    private static func look(_ connection: Connection, _ plans: [TopicPlan]) throws -> (id: String, TopicView) {
        let stop = StopSignal()
        return try connection.withTopicCluster { cluster in
            let id = try connection.asked(until: stop) { time throws(KafkaError) in
                guard let id = try cluster.clusterID(within: time) else {
                    throw KafkaError(code: .timedOut, reason: "the cluster does not say its id", isRetriable: true)
                }
                return id
            }
            let known = try connection.asked(until: stop) { try cluster.topics(within: $0) }
            // Nobody requests a stop.
            guard let id, let known else { throw CancellationError() }
            return (id, TopicView(known, of: cluster, plans, within: connection.timeout))
        }
    }

    static func steps(of findings: [TopicFinding], _ topics: Int) -> [CheckStep] {
        guard !findings.isEmpty else {
            return [CheckStep(phase: .topology, what: "topics", result: .passed("\(topics), all as they should be"))]
        }
        return findings.map { finding in
            let what = finding.topics.isEmpty ? "topics" : finding.topics.joined(separator: ", ")
            let detail = "\(finding.what): \(finding.consequence)"
            let result: CheckStep.Result =
                switch finding.level {
                case .error: .failed(detail, status: ExitStatus.failed)
                case .warning: .warning(detail)
                case .unseen: .skipped(detail)
                }
            return CheckStep(phase: .topology, what: what, result: result)
        }
    }
}
