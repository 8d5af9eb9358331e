import NotificationModel
import NotificationState

/// What one recipient has, asked of the lane that owns the recipient's partition. The answer may be ahead of the last
/// checkpoint, and behind what was published a moment ago.
struct NotificationQuery: Sendable {
    /// An empty identifier asks for all that the recipient has in the application.
    var key: NotificationKey
    /// Asks for the recipient's devices instead; an identifier is the name of one.
    var isOfDevices = false
    var states = Set(ListedNotification.State.allCases)
    /// The position after which a page begins: `next` of the page before. Nil for the first page.
    var after: Int64?
    /// The maximum number of notifications in a page.
    var limit = 100
    /// How many nominal instants of each schedule to list.
    var occurrences = 0

    /// The limits of a page, whatever the query asks for.
    enum Bound {
        static let notifications = 1000
        /// A page ends when its contents have this many bytes.
        static let contentBytes = 1 << 20
        /// Entries of the store that are read for a page with a lower limit.
        static let leastStored = 100
    }

    /// Some of the notifications, in an order of its own.
    struct Page: Sendable {
        var notifications: [ListedNotification] = []
        /// Where the next page begins; nil after the last. A page that has a next one can be short, or empty.
        var next: Int64?
    }

    enum Answer: Sendable {
        case page(Page)
        /// For one identifier; nil when nothing is under it.
        case notification(ListedNotification?)
        /// The devices that were asked for.
        case devices([ListedDevice])
        /// This instance does not own the recipient's partition.
        case notOwned(partition: Int32)
        /// The lane stopped before it could answer, or no lane has begun yet.
        case unavailable
        /// Too many queries wait for the lane.
        case overloaded
    }
}
