package import NotificationModel
import Synchronization

/// The categories of all applications, as the topic `categories` has them. Any thread may use it.
package final class CategoryTable: Sendable {
    /// Applications whose categories are kept.
    package static let applications = 1_000

    /// The place of a record that was read.
    package struct Place: Sendable, Hashable {
        package var partition: Int32
        package var offset: Int64
        /// Milliseconds since 1970.
        package var timestamp: Int64

        package init(partition: Int32, offset: Int64, timestamp: Int64) {
            (self.partition, self.offset, self.timestamp) = (partition, offset, timestamp)
        }
    }

    private struct Contents {
        var sets: [ExactText: CategorySet] = [:]
        /// Where the sets were read.
        var places: [ExactText: Place] = [:]
    }

    private let contents = Mutex(Contents())
    private let changes = Atomic<Int>(0)

    /// A table without categories.
    package init() {}

    /// Grows with each change; cheap. Take it before ``snapshot()`` to know when that is outdated.
    package var version: Int { changes.load(ordering: .acquiring) }

    /// The sets by application; an empty set was set, a missing one was not.
    package func snapshot() -> [ExactText: CategorySet] { contents.withLock { $0.sets } }

    /// The set of an application; nil when none was set.
    package func set(of application: String) -> CategorySet? { contents.withLock { $0.sets[ExactText(application)] } }

    /// Whether a set of this application can be kept.
    package func hasRoom(for application: String) -> Bool {
        contents.withLock { Self.hasRoom(for: ExactText(application), $0) }
    }

    /// Categories known, of all applications.
    package var count: Int { contents.withLock { $0.sets.values.reduce(0) { $0 + $1.categories.count } } }

    /// Puts a set, or removes it with nil.
    ///
    /// - Parameters:
    ///   - set: replaces the application's set.
    ///   - application: its name.
    /// - Returns: False when there is no room for another application.
    @discardableResult
    package func set(_ set: CategorySet?, of application: String) -> Bool {
        let application = ExactText(application)
        return contents.withLock { contents in
            guard set == nil || Self.hasRoom(for: application, contents) else { return false }
            contents.sets[application] = set
            if set == nil { contents.places[application] = nil }
            changes.add(1, ordering: .releasing)
            return true
        }
    }

    /// Puts the set of a record that was read, or removes it with nil. The records of a partition are read in their order; of
    /// two partitions, after the topic got more of them, the later timestamp counts.
    ///
    /// - Returns: False when there is no room for another application.
    @discardableResult
    package func noteRead(_ set: CategorySet?, of application: String, at place: Place) -> Bool {
        let application = ExactText(application)
        return contents.withLock { contents in
            guard set == nil || Self.hasRoom(for: application, contents) else { return false }
            if let last = contents.places[application], last.partition != place.partition,
                last.timestamp > place.timestamp
            {
                return true
            }
            contents.sets[application] = set
            contents.places[application] = set == nil ? nil : place
            changes.add(1, ordering: .releasing)
            return true
        }
    }

    /// Puts the set of a record that was written, before it is read: unless the reader is beyond it already.
    package func noteWritten(_ set: CategorySet, of application: String, partition: Int32, offset: Int64) {
        let application = ExactText(application)
        contents.withLock { contents in
            guard Self.hasRoom(for: application, contents) else { return }
            if let last = contents.places[application], last.partition == partition, last.offset >= offset {
                return
            }
            contents.sets[application] = set
            changes.add(1, ordering: .releasing)
        }
    }

    private static func hasRoom(for application: ExactText, _ contents: Contents) -> Bool {
        contents.sets.count < applications || contents.sets[application] != nil
    }
}
