import Foundation
import GRDB
package import NotificationModel

extension SQLiteEntryStore {
    /// A file that is open and may be used.
    struct Opened {
        let connection: DatabaseQueue
        let contents: StoreFile.Contents
        let filter: BloomFilter
    }

    /// Opens the file of a partition, or makes it; blocking, about 0.2 s for a million entries.
    ///
    /// - Parameters:
    ///   - directory: made when it is not there.
    ///   - topic: of the requests; a part of the file's name.
    ///   - cluster: the id of the Kafka cluster: the contents of another one are of no use.
    ///   - now: by the wall clock.
    ///   - bootID: changes whenever the machine starts; nil when it is not known, and then only what was closed is kept.
    /// - Returns: the store, and why what was there before was discarded.
    /// - Throws: ``EntryStoreError/unusable(_:)``, ``EntryStoreError/unavailable(_:)`` and ``EntryStoreError/inUse(_:)``.
    package static func open(
        directory: String,
        topic: String,
        partition: Int32,
        cluster: String,
        limits: Limits = Limits(),
        now: Timestamp,
        bootID: String? = currentBootID()
    ) throws -> (store: SQLiteEntryStore, discarded: Discarded?) {
        let file = StoreFile(
            directory: directory,
            identity: .init(topic: topic, partition: partition, cluster: cluster)
        )
        let lock = try file.lock()
        let oldest = now.adding(milliseconds: -limits.retention.milliseconds)
        var discarded = file.readDamageNote().map {
            Discarded(reason: "it was found damaged: \($0)", isDamage: true)
        }
        return try file.translating {
            var opened: Opened?
            if discarded == nil, file.exists {
                do {
                    opened = try file.open(limits: limits, oldest: oldest, bootID: bootID)
                } catch let refusal as StoreFile.Refusal {
                    discarded = Discarded(reason: refusal.reason, isDamage: false)
                } catch let error as DatabaseError where error.isDamage || error.resultCode == .SQLITE_ERROR {
                    discarded = Discarded(reason: "it is damaged: \(error.reason)", isDamage: true)
                }
            }
            if opened == nil { try file.remove() }
            return (try SQLiteEntryStore(file, lock, opened, limits: limits, bootID: bootID), discarded)
        }
    }

    /// Makes an empty file in the place of whatever is there; blocking.
    ///
    /// - Throws: as `open`.
    static func make(
        directory: String,
        topic: String,
        partition: Int32,
        cluster: String,
        limits: Limits
    ) throws -> SQLiteEntryStore {
        let file = StoreFile(
            directory: directory,
            identity: .init(topic: topic, partition: partition, cluster: cluster)
        )
        let lock = try file.lock()
        return try file.translating {
            try file.remove()
            return try SQLiteEntryStore(file, lock, nil, limits: limits, bootID: currentBootID())
        }
    }

    /// What was in a file that is not kept.
    package struct Discarded: Sendable, CustomStringConvertible {
        package var reason: String
        /// It was ours, and is not what was written.
        package var isDamage: Bool
        package var description: String { reason }
    }

    /// The machine's, from Linux's `/proc`; nil elsewhere.
    package static func currentBootID() -> String? {
        try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }
}

extension StoreFile {
    /// Opens what is there; the note that it is open is written before anything else is.
    ///
    /// - Throws: ``Refusal`` when it is not to be kept, or an error of the database.
    func open(limits: SQLiteEntryStore.Limits, oldest: Timestamp, bootID: String?) throws -> SQLiteEntryStore.Opened {
        let connection = try connect(
            isReader: false,
            cacheBytes: limits.cacheBytes,
            maximumPages: limits.maximumPages()
        )
        return try connection.inDatabase { database in
            let contents = try check(database, oldest: oldest, bootID: bootID)
            let filter = try survey(database, contents.counts)
            return SQLiteEntryStore.Opened(connection: connection, contents: contents, filter: filter)
        }
    }

    /// Makes it anew.
    func make(limits: SQLiteEntryStore.Limits, bootID: String?) throws -> SQLiteEntryStore.Opened {
        let connection = try connect(
            isReader: false,
            cacheBytes: limits.cacheBytes,
            maximumPages: limits.maximumPages()
        )
        try connection.inDatabase { try create($0, bootID: bootID) }
        return SQLiteEntryStore.Opened(connection: connection, contents: Contents(isNoted: true), filter: BloomFilter())
    }
}
