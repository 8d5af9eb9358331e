import OutboundHTTP
import Synchronization

/// What a fetcher has done since it began, for metrics.
package struct FetchStatistics: Hashable, Sendable {
    /// Fetches that ended, by `FetchedMedia.Origin` or the code of the `OutboundFailure`.
    package var outcomes: [String: Int] = [:]
    /// Of media that were downloaded and stored.
    package var downloadedBytes: Int64 = 0
    /// Fetches under way.
    package var fetching = 0
    /// Connections now, opening and idle ones included.
    package var connections = 0
    /// Connections that were opened, or tried.
    package var openedConnections = 0
    /// Downloads that wait for a connection.
    package var waiting = 0
    /// URLs of which the fetcher knows the medium.
    package var knownMedia = 0
}

/// Counts fetches.
final class FetchCounters: Sendable {
    private let statistics = Mutex(FetchStatistics())

    var values: FetchStatistics { statistics.withLock { $0 } }

    func begin() { statistics.withLock { $0.fetching += 1 } }

    func end(_ result: Result<FetchedMedia, OutboundFailure>) {
        statistics.withLock { statistics in
            statistics.fetching -= 1
            switch result {
            case .success(let media):
                statistics.outcomes[media.origin.rawValue, default: 0] += 1
                if media.origin == .downloaded { statistics.downloadedBytes &+= media.stored.bytes }
            case .failure(let failure):
                statistics.outcomes[failure.code, default: 0] += 1
            }
        }
    }
}
