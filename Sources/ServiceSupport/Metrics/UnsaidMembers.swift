package import Logging
package import Metrics
import Synchronization

/// Counts the members of payloads of APNs in requests that no content says, and logs each path once.
package final class UnsaidMembers: Sendable {
    package static let metric = "payload.members.not.converted"
    package static let help = "Members of payloads of APNs in requests that no content says, and that were left out."

    /// Further paths are counted only: the names come from requests.
    private static let maximumPaths = 100
    private static let maximumCharacters = 100

    private let counter: Counter
    private let told: Mutex<Set<String>> = Mutex([])

    package init(_ counter: Counter) { self.counter = counter }

    /// - Parameter paths: from the payload: `aps.alert.action-loc-key`.
    package func note(_ paths: [String], _ logger: Logger) {
        counter.increment(by: Int64(paths.count))
        let new = told.withLock { told in
            paths.map { String($0.prefix(Self.maximumCharacters)) }.filter {
                told.count < Self.maximumPaths && told.insert($0).inserted
            }
        }
        guard !new.isEmpty else { return }
        logger.warning(
            "a payload of APNs in a request says what no content says: it is left out",
            metadata: ["members": "\(new.joined(separator: ", "))"]
        )
    }
}
