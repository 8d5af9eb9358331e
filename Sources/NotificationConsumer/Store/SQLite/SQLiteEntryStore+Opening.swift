import Foundation
import GRDB
package import NotificationModel

extension SQLiteEntryStore {
    /// A file that is open and valid.
    struct Opened {
        let connection: DatabaseQueue
        let contents: StoreFile.Contents
        let filter: BloomFilter
    }

    /// Opens or creates the file of a partition; blocking, about 0.2 s for a million entries.
    ///
    /// - Parameters:
    ///   - directory: created if it does not exist.
    ///   - topic: the requests topic; part of the file name.
    ///   - cluster: the id of the Kafka cluster: a file of another cluster is discarded.
    ///   - now: the wall clock.
    ///   - bootID: changes whenever the machine starts. If it is nil (unknown), only a closed file is kept.
    /// - Returns: the store, and why the previous file was discarded.
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

    /// Creates an empty file, replacing an existing file; blocking.
    ///
    /// - Throws: the errors of `open`.
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

    /// A discarded file.
    package struct Discarded: Sendable, CustomStringConvertible {
        package var reason: String
        /// It is a store file whose contents differ from what was written.
        package var isDamage: Bool
        package var description: String { reason }
    }

    /// The boot id of the machine, from `/proc` on Linux; nil on other systems.
    package static func currentBootID() -> String? {
        try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }
}

extension StoreFile {
    /// Opens the existing file. The file records that it is open before anything else is written.
    ///
    /// - Throws: ``Refusal`` when it must be discarded, or an error of the database.
    func open(limits: SQLiteEntryStore.Limits, oldest: Timestamp, bootID: String?) throws -> SQLiteEntryStore.Opened {
        let connection = try connect(
            isReader: false,
            cacheBytes: limits.cacheBytes,
            maximumPages: limits.maximumPages()
        )
        return try connection.inDatabase { database in
            var contents = try check(database, oldest: oldest, bootID: bootID)
            let filter = try survey(database, &contents.counts)
            return SQLiteEntryStore.Opened(connection: connection, contents: contents, filter: filter)
        }
    }

    /// Creates a new file.
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
