import Foundation
import Synchronization
import Testing
import TestSupport

/// Kafka, both services as separate processes, and clients that read the results; shared by the scenarios.
final class Stack: Sendable {
    /// That of the suite that runs.
    @TaskLocal static var running: Stack?

    let cluster: Cluster
    let deployment: String
    let requests: KcatTopic
    let deliveries: KcatTopic
    let responses: KcatTopic
    let deadLetters: ByteTopics
    let state: ByteTopics
    private let further: [String: String]
    private let services: Mutex<(producer: ServiceProcess, consumer: ServiceProcess)>
    /// Where the API is, for clients that outlive a producer.
    let addressFile: String
    private let folder: TemporaryFolder
    private let used = Atomic<Int>(0)

    /// The stack of the suite; each scenario begins with this.
    static func shared() throws -> Stack {
        let stack = try #require(running, "scenarios run in a suite with the trait .stack")
        stack.used.add(1, ordering: .relaxed)
        return stack
    }

    /// How many scenarios have used it.
    var uses: Int { used.load(ordering: .relaxed) }

    private init(cluster: Cluster, further: [String: String]) async throws {
        self.cluster = cluster
        self.further = further
        deployment = "test-\(UUID().uuidString.prefix(8).lowercased())"
        let settings = ServiceProcess.settings(cluster, deployment: deployment).merging(further) { _, new in new }
        let producer = try ServiceProcess.producer(settings, deployment: deployment)
        let consumer = try ServiceProcess.consumer(settings, deployment: deployment)
        services = Mutex((producer, consumer))
        requests = try KcatTopic(cluster, "requests")
        deliveries = try KcatTopic(cluster, "deliveries")
        responses = try KcatTopic(cluster, "responses")
        deadLetters = try ByteTopics(cluster, "dead-letters")
        state = try ByteTopics(cluster, "state")
        folder = try TemporaryFolder()
        addressFile = folder.file("address")
    }

    /// - Parameter further: settings of both services besides those that every test has.
    static func start(_ further: [String: String] = [:]) async throws -> Stack {
        let cluster = try await Cluster.start()
        do {
            let stack = try await Stack(cluster: cluster, further: further)
            do {
                try await stack.producer.ready()
                try await stack.consumer.ready()
                try await stack.noteAddress()
                return stack
            } catch {
                await stack.endProcesses()
                throw error
            }
        } catch {
            try? await cluster.stop()
            throw error
        }
    }

    func stop() async throws {
        await endProcesses()
        try await cluster.stop()
    }

    private func endProcesses() async {
        await withTaskGroup(of: Void.self) { group in
            for child in [
                producer.child, consumer.child, requests.process, deliveries.process, responses.process,
                deadLetters.process, state.process,
            ] {
                group.addTask { await child.end() }
            }
        }
    }

    // MARK: The services

    var producer: ServiceProcess { services.withLock { $0.producer } }
    var consumer: ServiceProcess { services.withLock { $0.consumer } }

    private var settings: [String: String] {
        ServiceProcess.settings(cluster, deployment: deployment).merging(further) { _, new in new }
    }

    /// A new consumer service after the last one has ended.
    func restartConsumer() async throws {
        let next = try ServiceProcess.consumer(settings, deployment: deployment)
        services.withLock { $0.consumer = next }
        try await next.ready()
    }

    /// A new producer service after the last one has ended.
    func restartProducer() async throws {
        let next = try ServiceProcess.producer(settings, deployment: deployment)
        services.withLock { $0.producer = next }
        try await next.ready()
        try await noteAddress()
    }

    private func noteAddress() async throws {
        try Data(try await producer.http.utf8).write(to: URL(fileURLWithPath: addressFile), options: .atomic)
    }

    // MARK: Actions of scenarios

    /// A recipient that no other test uses.
    func recipient(_ name: String = "ana") -> String { "\(name)-\(UUID().uuidString.prefix(8).lowercased())" }

    func notification(_ recipient: String, _ identifier: String, query: String = "") async throws -> String {
        "\(try await producer.http)/v1/recipients/\(recipient)/notifications/\(identifier)\(query)"
    }

    /// `PUT`s a notification and expects 202.
    @discardableResult
    func put(
        _ recipient: String,
        _ identifier: String,
        _ body: String = #"{"content":{"title":"Test"}}"#,
        headers: [(String, String)] = []
    ) async throws -> String {
        let answer = try await Curl.send(
            "PUT",
            try await notification(recipient, identifier),
            headers: [("content-type", "application/json")] + headers,
            body: Data(body.utf8)
        )
        return try accepted(answer)
    }

    /// `DELETE`s a notification and expects 202.
    @discardableResult
    func delete(_ recipient: String, _ identifier: String, state: String) async throws -> String {
        try accepted(
            try await Curl.send("DELETE", try await notification(recipient, identifier, query: "?state=\(state)"))
        )
    }

    private func accepted(_ answer: HTTPAnswer) throws -> String {
        #expect(answer.status == 202, "\(answer.text)")
        return try #require(answer["requestId"], "\(answer.text)")
    }

    func send(_ events: TestEvent...) async throws -> [Placed] {
        try await PythonProducer.send(events.map(\.line), to: cluster)
    }

    func send(_ records: [TestRecord]) async throws -> [Placed] {
        try await PythonProducer.send(records.map(\.line), to: cluster)
    }

    /// The events of a notification with a name, once there are as many as expected.
    func events(
        _ name: String,
        _ recipient: String,
        _ identifier: String,
        count: Int = 1
    ) async throws -> [KcatRecord] {
        do {
            return try await deliveries.records(count, "\(name) of \(recipient) \(identifier)") {
                $0.name == name && $0["recipient"] == recipient && $0["identifier"] == identifier
            }
        } catch {
            throw ChildProcess.Failure(
                description: "\(error)\nall of the recipient: \(all(recipient).map { ($0.name, $0.payload ?? "") })\n"
                    + "\(producer.child.lastWords)\n\(consumer.child.lastWords)"
            )
        }
    }

    func event(_ name: String, _ recipient: String, _ identifier: String) async throws -> KcatRecord {
        try #require(try await events(name, recipient, identifier).first)
    }

    /// Every event of a recipient that is there by now.
    func all(_ recipient: String) -> [KcatRecord] {
        deliveries.records.filter { $0["recipient"] == recipient }
    }

    /// The dead letters of records, in the order of the records.
    func deadLetters(of places: [Placed]) async throws -> [ByteRecord] {
        func letter(_ place: Placed) -> ByteRecord? {
            deadLetters.records.first {
                $0.text("kafka_dlt-original-topic") == place.topic
                    && $0.bigEndian("kafka_dlt-original-partition", bytes: 4) == place.partition
                    && $0.bigEndian("kafka_dlt-original-offset", bytes: 8) == place.offset
            }
        }
        try await eventually(
            "dead letters of all of \(places)",
            orSay: {
                "missing: \(places.filter { letter($0) == nil })\n\(self.producer.child.lastWords)\n\(self.consumer.child.lastWords)"
            }
        ) {
            places.allSatisfy { letter($0) != nil }
        }
        return places.compactMap(letter)
    }
}

/// Starts a stack for a suite, and always ends it.
struct StackTrait: SuiteTrait, TestScoping {
    /// Settings of both services besides those that every test has.
    var settings: [String: String] = [:]

    func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable () async throws -> Void
    ) async throws {
        let stack = try await Stack.start(settings)
        do {
            try await Stack.$running.withValue(stack) { try await function() }
        } catch {
            try? await stack.stop()
            throw error
        }
        #expect(stack.uses > 0, "no scenario ran: a run that tests nothing must not pass")
        try await stack.stop()
    }
}

extension Trait where Self == StackTrait {
    /// Kafka and both services for all tests of the suite.
    static var stack: Self { StackTrait() }

    /// The same, with more settings of both services.
    static func stack(_ settings: [String: String]) -> Self { StackTrait(settings: settings) }
}
