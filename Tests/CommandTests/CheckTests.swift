import Foundation
import Kafka
import LocalBroker
import NotificationChannels
import NotificationModel
import ServiceSupport
import Synchronization
import Testing

@testable import carillon

@Suite("carillon check")
struct CheckTests {
    private static let broker = ["CARILLON_KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1"]

    private static func steps(
        _ service: ServiceChoice,
        _ yaml: String,
        _ environment: [String: String] = broker
    ) throws -> (steps: [CheckStep], isRight: Bool) {
        let file = try TemporaryFile(yaml)
        var steps: [CheckStep] = []
        var check = ServiceFilesCheck(service, environment: environment, file: file.path) { steps.append($0) }
        let checked = check.run()
        return (steps, checked != nil)
    }

    private static func failures(_ steps: [CheckStep]) -> [String] {
        steps.filter { $0.failure != nil }.map(\.text)
    }

    // MARK: Settings and files

    @Test func `settings that a service starts with are right`() throws {
        for service in ServiceChoice.allCases {
            let (steps, isRight) = try Self.steps(service, "deployment: test\n")
            #expect(isRight && Self.failures(steps) == [], "\(service): \(steps)")
            #expect(steps.first?.text.hasPrefix("  ok       settings: ") == true)
            #expect(steps.allSatisfy { $0.phase == .settings })
        }
    }

    @Test func `wrong settings are told, and nothing else is looked at`() throws {
        let (steps, isRight) = try Self.steps(.consumer, "channel: pigeon\nhtp: 1\n")
        #expect(!isRight && steps.count == 1)
        let text = try #require(steps.first?.text)
        #expect(text.contains("channel is \"pigeon\"; allowed: ") && text.contains("htp is not a known key"))
        #expect(steps.first?.failure == ExitStatus.settings)
    }

    @Test func `every file that is wrong is told, not only the first`() throws {
        let rules = try TemporaryFile("rules:\n  - event: e\n    recipent: r\n")
        let tokens = try TemporaryFile("nonsense\n")
        let producer = try Self.steps(
            .producer,
            "rules: {file: \(rules.path)}\nhttp: {tokens: {file: \(tokens.path)}}\n"
        )
        let texts = Self.failures(producer.steps)
        #expect(!producer.isRight && texts.count == 2)
        #expect(texts[0].contains("rules:") && texts[0].contains("recipent") && texts[0].contains(":3:"))
        #expect(texts[1].contains("HTTP API") && texts[1].contains(tokens.path))
        let consumer = try Self.steps(
            .consumer,
            """
            channels: [apns, fcm, webhook]
            apns: {applications: {file: /nowhere/apns}}
            fcm: {applications: {file: /nowhere/fcm}}
            webhook: {url: "https://example.com/", keys: {file: /nowhere/keys}}
            """
        )
        #expect(Self.failures(consumer.steps).count == 3)
        for name in ["apns", "fcm", "webhook"] {
            #expect(consumer.steps.contains { $0.what == "the channel \(name)" && $0.failure == ExitStatus.settings })
        }
    }

    @Test func `chains are checked, and the directory of media is not touched`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("check-\(UUID().uuidString)").path
        let chains = try TemporaryFile("enrichers: {a: {kind: pigeon}}\n")
        let media = "enrichment: {enabled: true%}\nmedia: {directory: \(folder), url: 'https://media.example.com'}\n"
        let wrong = try Self.steps(
            .consumer,
            media.replacing("%", with: ", chains: {file: \(chains.path)}")
        )
        #expect(!wrong.isRight && Self.failures(wrong.steps).first?.contains(chains.path) == true)
        let right = try Self.steps(.consumer, media.replacing("%", with: ""))
        #expect(right.isRight, "\(right.steps)")
        #expect(!FileManager.default.fileExists(atPath: folder))
    }

    @Test func `properties of Kafka that do not belong together are wrong, and no secret is shown`() throws {
        let environment = Self.broker.merging(["CARILLON_KAFKA_PROPERTIES": "sasl.password=hunter2"]) { $1 }
        for service in ServiceChoice.allCases {
            let (steps, isRight) = try Self.steps(service, "", environment)
            #expect(!isRight && Self.failures(steps).first?.contains("security.protocol") == true)
            #expect(!steps.map(\.text).joined().contains("hunter2"))
        }
    }

    // MARK: The environment

    @Test func `a directory is not created; it can be written, or could be created`() throws {
        let file = try TemporaryFile("")
        let folder = (file.path as NSString).deletingLastPathComponent
        #expect(EnvironmentCheck.directory(folder) == .passed("\(folder) can be written"))
        let new = "\(folder)/\(UUID().uuidString)/store"
        #expect(EnvironmentCheck.directory(new) == .passed("\(new) will be created"))
        #expect(!FileManager.default.fileExists(atPath: new))
        #expect(EnvironmentCheck.directory(file.path) == .failed("\(file.path) is no directory", status: 78))
    }

    @Test func `what a server says decides the status`() {
        #expect(EnvironmentCheck.result(of: .reached("it answers")) == .passed("it answers"))
        #expect(EnvironmentCheck.result(of: .refused("no")) == .failed("no", status: ExitStatus.failed))
        guard case .failed(let text, ExitStatus.unavailable) = EnvironmentCheck.result(of: .unreachable("timed out"))
        else {
            Issue.record("another status")
            return
        }
        #expect(text.hasPrefix("timed out; "))
    }

    @Test func `of several failures wrong settings decide, then what did not answer`() {
        func status(_ failures: Int32...) -> Int32 {
            var status = CheckStatus()
            for failure in failures {
                status.note(CheckStep(phase: .settings, what: "x", result: .failed("", status: failure)))
            }
            status.note(CheckStep(phase: .settings, what: "x", result: .warning("")))
            return status.status
        }
        #expect(status() == 0 && status(1) == 1 && status(1, 69, 1) == 69 && status(69, 78, 1) == 78)
    }

    @Test func `findings about topics are steps of the topology`() {
        let findings = [
            TopicFinding(level: .error, topics: ["a", "b"], what: "w", consequence: "c"),
            TopicFinding(level: .warning, topics: ["a"], what: "w", consequence: "c"),
            TopicFinding(level: .unseen, topics: [], what: "w", consequence: "c"),
        ]
        let steps = EnvironmentCheck.steps(of: findings, 10)
        #expect(steps.map(\.what) == ["a, b", "a", "topics"] && steps.allSatisfy { $0.phase == .topology })
        #expect(steps.map(\.result) == [.failed("w: c", status: 1), .warning("w: c"), .skipped("w: c")])
        #expect(EnvironmentCheck.steps(of: [], 10).map(\.result) == [.passed("10, all as they should be")])
    }

    @Test func `a broker that answers is told with its topics, and one that does not with the reason`() async throws {
        let local = try LocalBroker.withCarillonTopics(TopicNames(), partitions: 4)
        func steps(_ servers: [String], _ timeout: Duration) async throws -> [CheckStep] {
            let taken = Mutex<[CheckStep]>([])
            let service = CheckedService(
                shared: SharedConfiguration(bootstrapServers: servers),
                topics: ["requests", "state"]
            )
            let check = EnvironmentCheck(service: service, timeout: timeout) { step in
                taken.withLock { $0.append(step) }
            }
            try await check.run()
            return taken.withLock { $0 }
        }
        let right = try await steps(local.bootstrapServers, .seconds(30))
        #expect(right.map(\.failure) == [nil, nil, nil], "\(right)")
        #expect(right.first?.text.contains("at-least-once") == true)
        await local.shutDown()
        let away = try await steps(["127.0.0.1:1"], .milliseconds(600))
        #expect(away.map(\.failure) == [ExitStatus.unavailable, nil], "\(away)")
        #expect(away.first?.text.contains("127.0.0.1:1") == true)
    }

    // MARK: Text

    @Test func `a step is a line, several problems are lines below it, and nothing controls the terminal`() throws {
        let step = CheckStep(phase: .settings, what: "rules", result: .failed("a:1: x\u{1B}[2J\nb:2: y", status: 78))
        let lines = step.text.split(separator: "\n")
        #expect(lines.count == 3 && lines[0] == "  failed   rules:" && lines[2].hasSuffix("  b:2: y"))
        #expect(!step.text.contains("\u{1B}"))
        let json = try JSONValue.parse(step.json(of: .producer).dropLast())
        #expect(json["result"]?.stringValue == "failed" && json["phase"]?.stringValue == "settings")
        #expect(json["service"]?.stringValue == "producer" && json["what"]?.stringValue == "rules")
    }
}
