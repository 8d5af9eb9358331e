import Logging
import ServiceLifecycle
import Testing

@testable import ServiceSupport

@Suite("Running services", .timeLimit(.minutes(10)))
struct ServiceRunnerTests {
    private struct Failure: Error {}

    /// Ends at graceful shutdown and reports whether it was one.
    private struct Drains: Service {
        let started: Flag
        let drained: Flag

        func run() async throws {
            started.set()
            try await gracefulShutdown()
            drained.set()
        }
    }

    private struct Fails: Service {
        let after: Flag

        func run() async throws {
            while !after.isSet { try await Task.sleep(for: .milliseconds(5)) }
            throw Failure()
        }
    }

    private struct Ends: Service {
        func run() async throws {}
    }

    private let logger = LoggingConfiguration(level: .critical).logger(label: "test")

    @Test func `a service that fails lets the others drain, and its error is reported`() async throws {
        let drains = Drains(started: Flag(), drained: Flag())
        await #expect(throws: Failure.self) {
            try await ServiceRunner.run(
                [drains, Fails(after: drains.started)],
                shutdownTimeout: .seconds(30),
                logger: logger
            )
        }
        #expect(drains.drained.isSet)
    }

    @Test func `a service that returns stops the others without a failure`() async throws {
        let drains = Drains(started: Flag(), drained: Flag())
        try await ServiceRunner.run([drains, Ends()], shutdownTimeout: .seconds(30), logger: logger)
        #expect(drains.drained.isSet)
    }

    @Test func `an error while services are created is an invalid configuration`() async {
        let main = ServiceMain(name: "test", summary: "A test.", defaultOpsPort: 0)
        let status = await main.run(environment: ["CARILLON_LOG_LEVEL": "critical"], file: nil) { _ in
            { _ in throw Failure() }
        }
        #expect(status == 78)
    }
}
