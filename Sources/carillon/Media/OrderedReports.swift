/// Reports on many media, several at a time, and gives the reports in the order of the media.
struct OrderedReports: Sendable {
    /// Media at one time.
    var concurrency: Int
    /// Reports that wait for one before them, those in progress included.
    var waiting: Int

    private enum Event: Sendable {
        case batch(MediaBatch)
        case failure(any Error)
        case report(MediaReport, at: Int)
    }

    /// Runs until the last medium is reported, the task is cancelled, or nobody takes the reports any more.
    ///
    /// - Parameters:
    ///   - next: Reads at most so many further media; after a failure it is not called again.
    ///   - report: Makes a report.
    ///   - take: Gets the reports in order; false ends the run.
    /// - Throws: The failure of `next`, after the reports on all media before it; or that of `take`.
    func run(
        next: @escaping @Sendable (_ atMost: Int) async throws -> MediaBatch,
        report: @escaping @Sendable (MediaItem) async -> MediaReport,
        take: (MediaReport) throws -> Bool
    ) async throws {
        var failure: (any Error)?
        try await withThrowingTaskGroup(of: Event.self) { group in
            defer { group.cancelAll() }
            var items: ArraySlice<MediaItem> = []
            var (begun, taken, running) = (0, 0, 0)
            var (isReading, isAtEnd) = (false, false)
            var done: [Int: MediaReport] = [:]
            while !Task.isCancelled {
                while running < concurrency, begun - taken < waiting, !items.isEmpty {
                    let (item, index) = (items.removeFirst(), begun)
                    (begun, running) = (begun + 1, running + 1)
                    group.addTask { .report(await report(item), at: index) }
                }
                if items.isEmpty, !isReading, !isAtEnd {
                    isReading = true
                    group.addTask { [concurrency] in
                        do { return .batch(try await next(concurrency)) } catch { return .failure(error) }
                    }
                }
                guard let event = try await group.next() else { break }
                switch event {
                case .batch(let batch):
                    (items, isReading, isAtEnd) = (batch.items[...], false, batch.isLast)
                case .failure(let error):
                    (failure, isReading, isAtEnd) = (error, false, true)
                case .report(let report, let index):
                    running -= 1
                    done[index] = report
                    while !Task.isCancelled, let report = done.removeValue(forKey: taken) {
                        taken += 1
                        guard try take(report) else { return }
                    }
                }
            }
        }
        if let failure { throw failure }
    }
}
