import NotificationEnrichment
import OutboundHTTP
import Synchronization
import Testing

@testable import carillon

@Suite("Reports in the order of the media", .timeLimit(.minutes(5)))
struct OrderedReportsTests {
    private struct Failure: Error {}

    private static func report(_ item: MediaItem) -> MediaReport {
        MediaReport(line: item.line, outcome: .refused(.init(code: "", detail: "")))
    }

    private static func items(_ lines: some Sequence<Int>) -> [MediaItem] {
        lines.map { MediaItem(line: $0, .success(.init(url: ""))) }
    }

    /// Batches, one after the other.
    private static func source(_ batches: [[Int]]) -> @Sendable (Int) async throws -> MediaBatch {
        let rest = Mutex(batches[...])
        return { _ in
            rest.withLock { rest in
                MediaBatch(items: items(rest.popFirst() ?? []), isLast: rest.isEmpty)
            }
        }
    }

    @Test("a slow medium holds back the reports on the next ones, not their work", arguments: [1, 2, 7])
    func order(_ concurrency: Int) async throws {
        let (later, open) = AsyncStream<Void>.makeStream()
        var lines: [Int?] = []
        try await OrderedReports(concurrency: concurrency, waiting: 64).run(
            next: Self.source([[1, 2, 3], [], [4, 5]]),
            report: { item in
                // The first one waits for the last one.
                if concurrency > 1, item.line == 1 { for await _ in later { break } }
                if item.line == 5 { open.yield() }
                return Self.report(item)
            },
            take: { report in
                lines.append(report.line)
                return true
            }
        )
        #expect(lines == [1, 2, 3, 4, 5])
    }

    @Test("no more than the bound are in work, and no more than the other bound wait for their turn")
    func bounds() async throws {
        let state = Mutex((running: 0, most: 0, begun: 0, taken: 0, mostAhead: 0))
        try await OrderedReports(concurrency: 3, waiting: 5).run(
            next: Self.source([Array(1...40)]),
            report: { item in
                state.withLock { state in
                    state.running += 1
                    state.begun += 1
                    state.most = max(state.most, state.running)
                    state.mostAhead = max(state.mostAhead, state.begun - state.taken)
                }
                await Task.yield()
                state.withLock { $0.running -= 1 }
                return Self.report(item)
            },
            take: { _ in
                state.withLock { $0.taken += 1 }
                return true
            }
        )
        let (most, ahead, taken) = state.withLock { ($0.most, $0.mostAhead, $0.taken) }
        #expect(most <= 3 && ahead <= 5 && taken == 40)
    }

    @Test("a failure of the input ends it after the reports on what was read")
    func failure() async throws {
        let batches = Mutex([MediaBatch(items: Self.items(1...3))])
        var lines: [Int?] = []
        await #expect(throws: Failure.self) {
            try await OrderedReports(concurrency: 2, waiting: 8).run(
                next: { _ in
                    guard let batch = batches.withLock({ $0.popLast() }) else { throw Failure() }
                    return batch
                },
                report: { Self.report($0) },
                take: { report in
                    lines.append(report.line)
                    return true
                }
            )
        }
        #expect(lines == [1, 2, 3])
    }

    @Test("a cancelled run ends without the reports that are missing")
    func cancelled() async throws {
        let (begun, begin) = AsyncStream<Void>.makeStream()
        let run = Task {
            let taken = Mutex(0)
            try await OrderedReports(concurrency: 2, waiting: 8).run(
                next: Self.source([[1, 2]]),
                report: { item in
                    begin.yield()
                    // Ends when the task is cancelled.
                    for await _ in AsyncStream<Void>.makeStream().stream {}
                    return Self.report(item)
                },
                take: { _ in
                    taken.withLock { $0 += 1 }
                    return true
                }
            )
            return taken.withLock { $0 }
        }
        for await _ in begun { break }
        run.cancel()
        #expect(try await run.value == 0)
    }
}
