import LocalBroker
import Logging
import NotificationModel
import ServiceLifecycle
import ServiceSupport

extension LocalBroker {
    /// A broker with every topic that Carillon knows.
    ///
    /// - Parameters:
    ///   - topics: Their names.
    ///   - partitions: Of each topic alike, as the partition rule wants it of those that meet in one worker.
    static func withCarillonTopics(_ topics: TopicNames, partitions: Int) throws -> LocalBroker {
        try LocalBroker(topics: Dictionary(topics.all.map { ($0.topic, partitions) }) { first, _ in first })
    }
}

/// Keeps the broker until everything that uses it has stopped, and says loudly when it has thrown records away.
struct BrokerService: Service {
    let broker: LocalBroker
    let topics: TopicNames
    let logger: Logger

    func run() async throws {
        let watch = LocalBrokerWatch(broker: broker, topics: topics.all.map(\.topic), logger: logger)
        // Ends by cancellation when the shutdown reaches it; what it throws must not end the broker before the services.
        try? await cancelWhenGracefulShutdown { try await watch.run() }
        try? await gracefulShutdown()
        await broker.shutDown()
    }
}

/// A service that starts when a condition holds.
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

    /// Waits; false when the end comes first.
    fileprivate static func poll(_ condition: () -> Bool) async -> Bool {
        while !condition() {
            guard (try? await Task.sleep(for: .milliseconds(20))) != nil else { return false }
        }
        return !Task.isCancelled
    }
}

/// Says that all is ready, once, and takes the bootstrap file away when it ends.
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

    /// Waits; false when the end comes first.
    private func isReady() async -> Bool {
        while !health.notReady.isEmpty {
            guard (try? await Task.sleep(for: .milliseconds(50))) != nil else { return false }
        }
        return !Task.isCancelled
    }
}
