import NotificationConsumer
import NotificationModel

/// What a machine's disk holds of one partition: it outlives the process.
final class SimulatedDisk {
    struct Contents {
        var position: StorePosition?
        var entries: [[UInt8]: Entry] = [:]
    }

    struct Entry {
        var value: [UInt8]
        var due: Timestamp?
        var touched: Timestamp
        /// Ties of the due order are broken by it.
        var number: Int64
    }

    var contents: [Int32: Contents] = [:]
    /// The number of the next entry.
    var nextNumber: Int64 = 0

    func erase() { contents = [:] }
}
