import Synchronization
import Testing

@testable import NotificationProducer

@Suite("Deadlines of calls", .timeLimit(.minutes(1)))
struct CallDeadlinesTests {
    private struct Failure: Error, Equatable {
        var number: Int
    }

    private func looked<Result: Sendable>(
        after deadlines: CallDeadlines,
        _ body: () async throws -> Result
    ) async throws -> Result {
        let running = Task { await deadlines.run() }
        defer { running.cancel() }
        return try await body()
    }

    @Test("What is done in time returns or throws as it does")
    func inTime() async throws {
        let deadlines = CallDeadlines(.seconds(60))
        #expect(try await deadlines.bound { 7 } == 7)
        await #expect(throws: Failure(number: 1)) { try await deadlines.bound { throw Failure(number: 1) } }
    }

    @Test("What takes longer is cancelled, and not waited for even when it does not listen")
    func late() async throws {
        let deadlines = CallDeadlines(.milliseconds(100))
        let (stream, release) = AsyncStream.makeStream(of: Void.self)
        let wasCancelled = Mutex(false)
        try await looked(after: deadlines) {
            await #expect(throws: CancellationError.self) {
                try await deadlines.bound { try await Task.sleep(for: .seconds(1_000)) }
            }
            await #expect(throws: CancellationError.self) {
                try await deadlines.bound {
                    // A task of its own does not hear of the cancellation.
                    await Task { for await _ in stream { return } }.value
                    wasCancelled.withLock { $0 = Task.isCancelled }
                }
            }
        }
        release.yield()
        try await eventually("the body knows") { wasCancelled.withLock { $0 } }
    }

    @Test("Each of many calls has its own deadline, and a late one does not hold up the others")
    func many() async throws {
        let deadlines = CallDeadlines(.milliseconds(200))
        try await looked(after: deadlines) {
            let late = try await withThrowingTaskGroup(of: Bool.self) { group in
                for index in 0..<200 {
                    group.addTask {
                        do {
                            try await deadlines.bound {
                                if index.isMultiple(of: 2) { try await Task.sleep(for: .seconds(1_000)) }
                            }
                            return false
                        } catch is CancellationError {
                            return true
                        }
                    }
                }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(late == 100)
        }
    }

    @Test("A caller that is cancelled does not wait, whether before or while it waits")
    func cancelled() async throws {
        let deadlines = CallDeadlines(.seconds(1_000))
        let (stream, isWaiting) = AsyncStream.makeStream(of: Void.self)
        let waiting = Task {
            try await deadlines.bound {
                isWaiting.yield()
                try await Task.sleep(for: .seconds(1_000))
            }
        }
        for await _ in stream { break }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        let before = Task {
            while !Task.isCancelled { await Task.yield() }
            try await deadlines.bound { try await Task.sleep(for: .seconds(1_000)) }
        }
        before.cancel()
        await #expect(throws: CancellationError.self) { try await before.value }
    }
}
