import Kafka
import Logging
import NotificationModel
import ServiceSupport
import Synchronization
import Testing
import TestSupport

@testable import NotificationConsumer

/// A consumer service that runs until it is stopped or refuses to continue.
final class RunningConsumer: Sendable {
    let health = Health()
    let registry = PrometheusRegistry()
    let log = CollectedLog()
    let service: ConsumerService
    private let task: Task<Void, Never>
    /// Nil while it runs.
    private let end: EndOfService

    private final class EndOfService: Sendable {
        let result = Mutex<Result<Void, any Error>?>(nil)
    }

    init(_ configuration: ConsumerServiceConfiguration) throws {
        let service = try ConsumerService(
            configuration: configuration,
            health: health,
            registry: registry,
            logger: log.logger
        )
        self.service = service
        let end = EndOfService()
        self.end = end
        task = Task {
            do {
                try await service.run()
                end.result.withLock { $0 = .success(()) }
            } catch {
                end.result.withLock { $0 = .failure(error) }
            }
        }
    }

    /// Shuts it down, and waits for its end.
    func stop() async {
        task.cancel()
        await task.value
    }

    /// Waits until it is ready.
    func ready() async throws {
        try await eventually("the service is ready", orSay: { "\(self.health.notReady)" }) { health.notReady.isEmpty }
    }

    /// Waits until it ends without a request.
    func refusal() async throws -> ConsumerRefusal {
        do {
            try await eventually("the service refuses", orSay: { "\(self.health.notReady)" }) {
                end.result.withLock { $0 } != nil
            }
        } catch {
            await stop()
            throw error
        }
        let error = #expect(throws: ConsumerRefusal.self) { try end.result.withLock { $0 }?.get() }
        return try #require(error)
    }

    /// A sample of `/metrics` as text; nil if there is none.
    func metric(_ name: String) -> Double? {
        for line in registry.exposition().split(separator: "\n") where line.hasPrefix("\(name) ") {
            return Double(line.dropFirst(name.count + 1))
        }
        return nil
    }
}

/// Runs a service while the body runs.
func consuming<Result: Sendable>(
    _ configuration: ConsumerServiceConfiguration,
    _ body: (RunningConsumer) async throws -> Result
) async throws -> Result {
    let consumer = try RunningConsumer(configuration)
    do {
        let result = try await body(consumer)
        await consumer.stop()
        return result
    } catch {
        await consumer.stop()
        throw error
    }
}
