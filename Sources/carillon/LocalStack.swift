import LocalBroker
import Logging
import NotificationModel
import ServiceLifecycle
import ServiceSupport

extension LocalBroker {
    /// A broker with all topics of Carillon.
    ///
    /// - Parameters:
    ///   - topics: Their names.
    ///   - partitions: The same for each topic, as the partition rule requires for topics that one worker reads.
    static func withCarillonTopics(_ topics: TopicNames, partitions: Int) throws -> LocalBroker {
        try LocalBroker(topics: Dictionary(topics.all.map { ($0.topic, partitions) }) { first, _ in first })
    }
}

/// Keeps the broker until all services that use it have stopped, and logs when it has dropped records.
struct BrokerService: Service {
    let broker: LocalBroker
    let topics: TopicNames
    let logger: Logger

    func run() async throws {
        let watch = LocalBrokerWatch(broker: broker, topics: topics.all.map(\.topic), logger: logger)
        // The shutdown cancels the watch; an error of the watch must not stop the broker before the services.
        try? await cancelWhenGracefulShutdown { try await watch.run() }
        try? await gracefulShutdown()
        await broker.shutDown()
    }
}

/// Starts a service when a condition holds.
struct StartingLater<Wrapped: Service>: Service {
    private let service: Wrapped
    private let mayStart: @Sendable () -> Bool

    init(_ service: Wrapped, when mayStart: @escaping @Sendable () -> Bool) {
        (self.service, self.mayStart) = (service, mayStart)
    }

    func run() async throws {
        let starts = await cancelWhenGracefulShutdown { await Self.poll(mayStart) }
        if starts { try await service.run() }
    }

    /// Waits; false when the shutdown comes first.
    fileprivate static func poll(_ condition: () -> Bool) async -> Bool {
        while !condition() {
            guard (try? await Task.sleep(for: .milliseconds(20))) != nil else { return false }
        }
        return !Task.isCancelled
    }
}

/// Announces once that everything is ready, and removes the bootstrap file at the end.
struct ReadyAnnouncer: Service {
    let health: Health
    let file: BootstrapFile?
    let bootstrapServers: String
    let text: @Sendable () async throws -> String

    init(
        health: Health,
        file: BootstrapFile?,
        bootstrapServers: String,
        text: @escaping @Sendable () async throws -> String
    ) {
        self.health = health
        self.file = file
        self.bootstrapServers = bootstrapServers
        self.text = text
    }

    func run() async throws {
        defer { file?.remove() }
        let mayAnnounce = await cancelWhenGracefulShutdown { await isReady() }
        guard mayAnnounce else { return }
        try file?.write(bootstrapServers)
        Terminal.write(try await text() + "\n")
        try? await gracefulShutdown()
    }

    /// Waits; false when the shutdown comes first.
    private func isReady() async -> Bool {
        while !health.notReady.isEmpty {
            guard (try? await Task.sleep(for: .milliseconds(50))) != nil else { return false }
        }
        return !Task.isCancelled
    }
}
