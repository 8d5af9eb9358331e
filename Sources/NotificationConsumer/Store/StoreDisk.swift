import Dispatch
import Foundation
import Logging
import NotificationModel
import ServiceSupport
import Synchronization

/// The shared state of the files in one directory: opens and creates them, and logs when the disk cannot be used.
final class StoreDisk: Sendable {
    /// When a file was damaged in use twice within this time, it is not recreated at once.
    private static let damageMemory: Int64 = 600_000

    private let directory: String
    private let topic: String
    private let cluster: String
    private let limits: SQLiteEntryStore.Limits
    private let clock: @Sendable () -> Timestamp
    private let logger: Logger

    private struct State {
        /// A file of the directory was opened: the settings are correct.
        var hasWorked = false
        /// When a file was last found damaged.
        var damagedAt: [Int32: Timestamp] = [:]
        /// Partitions whose files are not in use or cannot be written.
        var troubled: Set<Int32> = []
    }

    private let state = Mutex(State())

    init(
        directory: String,
        topic: String,
        cluster: String,
        limits: SQLiteEntryStore.Limits,
        clock: @escaping @Sendable () -> Timestamp,
        logger: Logger
    ) {
        self.directory = directory
        self.topic = topic
        self.cluster = cluster
        self.limits = limits
        self.clock = clock
        self.logger = logger
    }

    /// Opens or creates the file of a partition; blocking.
    ///
    /// - Throws: ``EntryStoreError``; ``EntryStoreError/unavailable(_:)`` when it is not a configuration error.
    func open(_ partition: Int32) throws -> SQLiteEntryStore {
        try noting {
            let now = clock()
            let (store, discarded) = try SQLiteEntryStore.open(
                directory: directory,
                topic: topic,
                partition: partition,
                cluster: cluster,
                limits: limits,
                now: now
            )
            if let discarded {
                logger.notice(
                    "discarded a store file; the changelog is read from its beginning",
                    metadata: [LogMetadata.partition: "\(partition)", LogMetadata.reason: "\(discarded)"]
                )
            }
            guard discarded?.isDamage == true else { return store }
            let before = state.withLock { $0.damagedAt.updateValue(now, forKey: partition) }
            guard let before, now.rawValue - before.rawValue < Self.damageMemory else { return store }
            store.remove()
            throw EntryStoreError.unavailable("the file was found damaged twice within ten minutes")
        }
    }

    /// A store that is not in use yet.
    fileprivate struct Made: @unchecked Sendable {
        let store: SQLiteEntryStore
    }

    /// A file being created by another thread.
    final class Making: Sendable {
        private enum State {
            case underWay, cancelled
            case done(Result<Made, any Error>)
        }

        private let state = Mutex(State.underWay)

        /// The empty store; nil while it is being created.
        func take() -> Result<SQLiteEntryStore, any Error>? {
            let result = state.withLock { state -> Result<Made, any Error>? in
                guard case .done(let result) = state else { return nil }
                state = .cancelled
                return result
            }
            return result?.map(\.store)
        }

        func cancel() { settle(nil) }

        fileprivate func settle(_ result: Result<Made, any Error>?) {
            let unused = state.withLock { state -> Made? in
                if let result, case .underWay = state {
                    state = .done(result)
                    return nil
                }
                defer { state = .cancelled }
                guard case .done(let known) = state else { return try? result?.get() }
                return try? known.get()
            }
            unused?.store.close(flushing: false)
        }
    }

    /// Creates an empty file on another thread, replacing an existing file.
    func make(_ partition: Int32) -> Making {
        let making = Making()
        DispatchQueue.global(qos: .utility).async { [self] in
            making.settle(
                Result {
                    try noting {
                        Made(
                            store: try SQLiteEntryStore.make(
                                directory: directory,
                                topic: topic,
                                partition: partition,
                                cluster: cluster,
                                limits: limits
                            )
                        )
                    }
                }
            )
        }
        return making
    }

    /// Deletes an abandoned file on another thread: a failing disk may be slow.
    func remove(_ store: SQLiteEntryStore) {
        let last = Made(store: store)
        DispatchQueue.global(qos: .utility).async { last.store.remove() }
    }

    /// After a file worked once, later errors are disk errors and not configuration errors.
    private func noting<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            let result = try body()
            state.withLock { $0.hasWorked = true }
            return result
        } catch EntryStoreError.unusable(let what) where state.withLock({ $0.hasWorked }) {
            throw EntryStoreError.unavailable(what)
        }
    }

    /// Logs when the first partition loses its file, and when the last one has its file again.
    func note(_ partition: Int32, trouble: String?) {
        let change = state.withLock { state -> Bool? in
            let count = state.troubled.count
            if trouble == nil { state.troubled.remove(partition) } else { state.troubled.insert(partition) }
            return state.troubled.isEmpty == (count == 0) ? nil : count == 0
        }
        guard let change else { return }
        if change {
            logger.warning(
                "the store cannot be written to disk; keeping entries in memory until it can",
                metadata: [
                    LogMetadata.file: "\(directory)", LogMetadata.partition: "\(partition)",
                    LogMetadata.error: "\(trouble ?? "")",
                ]
            )
        } else {
            logger.notice("the store can be written to disk again", metadata: [LogMetadata.file: "\(directory)"])
        }
    }
}
