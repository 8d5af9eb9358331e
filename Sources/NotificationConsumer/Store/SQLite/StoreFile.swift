import Dispatch
import Foundation
import GRDB
import NotificationModel
import NotificationState

// The module of `stat` where another file of the target imports Dispatch.
#if canImport(CDispatch)
import CDispatch
#endif
#if canImport(Glibc)
import Glibc
#endif

/// The files of one partition: their format, and how they are opened.
struct StoreFile {
    /// The identity of the file; a file with another identity is discarded.
    struct Identity: Hashable {
        var topic: String
        var partition: Int32
        var cluster: String
    }

    /// "Cari": in the header of every store file.
    private static let applicationID: Int32 = 0x4361_7269
    /// Incremented when the tables or the hashed data change: an older file is rebuilt from the changelog.
    private static let formatVersion: Int32 = 2

    let path: String
    let identity: Identity
    private let directory: String

    init(directory: String, identity: Identity) {
        self.directory = directory
        path = "\(directory)/\(identity.topic)-\(identity.partition).sqlite"
        self.identity = identity
    }

    private var damageNote: String { path + ".damaged" }

    /// Creates the directory if necessary.
    ///
    /// - Throws: ``EntryStoreError`` when it cannot be used.
    static func prepare(_ directory: String) throws {
        if let code = makeDirectory(directory) {
            throw EntryStoreError.failed("\(directory) cannot be created", errno: code)
        }
        if access(directory, W_OK | X_OK) != 0 {
            throw EntryStoreError.failed("\(directory) cannot be written", errno: errno)
        }
    }

    /// Creates the directory if necessary, and locks the file.
    ///
    /// - Throws: ``EntryStoreError``.
    func lock() throws -> StoreLock {
        try Self.prepare(directory)
        return try StoreLock(path: path + ".lock")
    }

    /// - Returns: `errno`; nil when the directory exists.
    private static func makeDirectory(_ path: String) -> Int32? {
        func isDirectory() -> Bool {
            var found = ObjCBool(false)
            return FileManager.default.fileExists(atPath: path, isDirectory: &found) && found.boolValue
        }
        if isDirectory() || mkdir(path, 0o700) == 0 { return nil }
        var code = errno
        let parent = (path as NSString).deletingLastPathComponent
        if code == ENOENT, !parent.isEmpty, parent != path {
            if let above = makeDirectory(parent) { return above }
            if mkdir(path, 0o700) == 0 { return nil }
            code = errno
        }
        // Another partition may have created it first.
        return isDirectory() ? nil : code
    }

    /// Runs code that opens or creates the file. A failure because of permissions or the kind of file is a
    /// configuration error.
    func translating<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as DatabaseError {
            guard let obstacle else {
                throw EntryStoreError.unavailable("store.directory: \(path) cannot be used (\(error.reason))")
            }
            throw EntryStoreError.failed("\(path) cannot be used: \(error.reason)", errno: obstacle)
        }
    }

    /// Why SQLite cannot use the file, as `errno`; nil when it can.
    private var obstacle: Int32? {
        var isDirectory = ObjCBool(false)
        if FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) {
            if isDirectory.boolValue { return EISDIR }
            if access(path, R_OK | W_OK) != 0 { return errno }
        }
        return access(directory, W_OK | X_OK) == 0 ? nil : errno
    }

    // MARK: - Connections

    /// Lets only this user read the file and what SQLite puts beside it. SQLite itself would let everybody, within the
    /// process's umask; it gives its log and its index the permissions of the file.
    ///
    /// Call it before the connection is open: closing a descriptor of the file would end its locks.
    private func restrict() {
        let descriptor = Foundation.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor < 0 else {
            _ = Foundation.close(descriptor)
            return
        }
        // An older version created them. What cannot be changed, SQLite reports when it cannot use it.
        for suffix in ["", "-wal", "-shm"] { _ = chmod(path + suffix, 0o600) }
    }

    /// - Parameter isReader: whether the connection never writes.
    func connect(isReader: Bool, cacheBytes: Int, maximumPages: Int? = nil) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.label = "carillon-store"
        configuration.readonly = isReader
        configuration.busyMode = .timeout(5)
        configuration.foreignKeysEnabled = false
        // Use pragmas: GRDB's own WAL setting changes `synchronous` back to NORMAL, at a third of the speed.
        configuration.prepareDatabase { database in
            var pragmas = ["mmap_size = 0", "temp_store = MEMORY", "cache_size = -\(cacheBytes >> 10)"]
            if !isReader {
                pragmas = ["page_size = 4096", "journal_mode = WAL", "synchronous = OFF"] + pragmas
                // The log may grow to 40 MiB before it is copied to the file. What is deleted is overwritten in the
                // pages that are written anyway.
                pragmas += ["secure_delete = FAST", "wal_autocheckpoint = 10000", "journal_size_limit = 67108864"]
                if let maximumPages { pragmas.append("max_page_count = \(maximumPages)") }
            }
            for pragma in pragmas { try database.execute(sql: "PRAGMA \(pragma)") }
        }
        if !isReader { restrict() }
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    func create(_ database: Database, bootID: String?) throws {
        try database.inTransaction(.immediate) {
            try database.execute(
                sql: """
                    PRAGMA application_id = \(Self.applicationID);
                    PRAGMA user_version = \(Self.formatVersion);
                    CREATE TABLE entry(
                        id INTEGER PRIMARY KEY, recipient INTEGER NOT NULL, hash INTEGER NOT NULL, due INTEGER,
                        touched INTEGER NOT NULL, open INTEGER NOT NULL, checksum INTEGER NOT NULL, key BLOB NOT NULL,
                        value BLOB NOT NULL
                    );
                    CREATE INDEX entry_key ON entry(recipient, hash);
                    CREATE INDEX entry_due ON entry(due, hash, open) WHERE due IS NOT NULL;
                    CREATE INDEX entry_idle ON entry(touched) WHERE due IS NULL;
                    CREATE TABLE meta(
                        id INTEGER PRIMARY KEY CHECK (id = 1), topic TEXT NOT NULL, partition INTEGER NOT NULL,
                        cluster TEXT NOT NULL, boot TEXT, closed INTEGER NOT NULL, lineage TEXT, next INTEGER,
                        written INTEGER, entries INTEGER NOT NULL, pending INTEGER NOT NULL
                    );
                    """
            )
            try database.execute(
                sql: "INSERT INTO meta VALUES (1, ?, ?, ?, ?, 0, NULL, NULL, NULL, 0, 0)",
                arguments: [identity.topic, identity.partition, identity.cluster, bootID]
            )
            return .commit
        }
    }

    // MARK: - Checks of an existing file

    /// The contents of the file's meta row.
    struct Contents {
        var position: StorePosition?
        var counts = StoreCounts()
        /// Whether the file already records that it is open in this boot.
        var isNoted = false
    }

    /// Why the file must be discarded.
    struct Refusal: Error {
        var reason: String
    }

    /// - Throws: ``Refusal``, or an error of the database.
    func check(_ database: Database, oldest: Timestamp, bootID: String?) throws -> Contents {
        guard try Int32.fetchOne(database, sql: "PRAGMA application_id") == Self.applicationID else {
            throw Refusal(reason: "it is not a store of Carillon")
        }
        guard try Int32.fetchOne(database, sql: "PRAGMA user_version") == Self.formatVersion else {
            throw Refusal(reason: "it has the format of another version")
        }
        guard let row = try Row.fetchOne(database, sql: "SELECT * FROM meta") else {
            throw Refusal(reason: "its meta row is missing")
        }
        // Reading the row this way cannot trap, whatever it contains.
        func text(_ column: String) -> String? { .fromDatabaseValue(row[column]) }
        func number(_ column: String) -> Int64? { .fromDatabaseValue(row[column]) }
        guard let topic = text("topic"), let partition = number("partition").flatMap(Int32.init(exactly:)),
            let cluster = text("cluster"), let entries = number("entries").flatMap(Int.init(exactly:)),
            let pending = number("pending").flatMap(Int.init(exactly:)), entries >= pending, pending >= 0
        else { throw Refusal(reason: "its meta row is invalid") }
        let found = Identity(topic: topic, partition: partition, cluster: cluster)
        guard found == identity else {
            throw Refusal(
                reason: "it is the store of \(found.topic)-\(found.partition) of cluster \(found.cluster), "
                    + "not of \(identity.topic)-\(identity.partition) of cluster \(identity.cluster)"
            )
        }
        let boot = text("boot")
        let isClosed = number("closed") == 1
        let isOfThisBoot = boot != nil && boot == bootID
        guard isClosed || isOfThisBoot else {
            throw Refusal(reason: "the machine restarted while the file was open")
        }
        var contents = Contents(
            counts: StoreCounts(entries: entries, pending: pending),
            isNoted: !isClosed && isOfThisBoot
        )
        if let lineage = text("lineage"), let offset = number("next"), let written = number("written") {
            contents.position = StorePosition(
                lineage: lineage,
                offset: offset,
                writtenAt: Timestamp(rawValue: written)
            )
            guard written >= oldest.rawValue else {
                throw Refusal(
                    reason: "it was last written at \(Timestamp(rawValue: written)): "
                        + "the changelog may have removed deletions since"
                )
            }
        }
        return contents
    }

    /// Scans the indexes, which is fast: if they disagree with the meta row, the file is damaged.
    ///
    /// - Parameter counts: of the meta row; the lasting entries and the open requests are counted here.
    /// - Returns: the existing keys.
    func survey(_ database: Database, _ counts: inout StoreCounts) throws -> BloomFilter {
        let filter = try Self.keys(database, expecting: counts.entries)
        var pending = 0
        // Counted here: `GROUP BY` would sort all of them.
        let pendingRows = try PreparedStatement(
            database,
            "SELECT open FROM entry INDEXED BY entry_due WHERE due IS NOT NULL"
        )
        try pendingRows.query { row in
            guard let open = UInt8(exactly: row.integer(0)).flatMap(OpenRequests.init) else {
                throw Refusal(reason: "its indexes are inconsistent")
            }
            counts.open.add(open)
            pending += 1
            return true
        }
        let idle = try Int.fetchOne(
            database,
            sql: "SELECT count(*) FROM entry INDEXED BY entry_idle WHERE due IS NULL"
        )
        guard filter.seen == counts.entries, pending == counts.pending, idle == counts.entries - counts.pending else {
            throw Refusal(reason: "its indexes are inconsistent")
        }
        let lasting = try Int.fetchOne(
            database,
            sql: "SELECT count(*) FROM entry INDEXED BY entry_idle WHERE due IS NULL AND touched = ?",
            arguments: [Timestamp.latest.rawValue]
        )
        counts.lasting = lasting ?? 0
        return filter.filter
    }

    /// The existing keys, and the number of rows.
    static func keys(_ database: Database, expecting count: Int) throws -> (filter: BloomFilter, seen: Int) {
        var filter = BloomFilter(expecting: count)
        var seen = 0
        let statement = try PreparedStatement(database, "SELECT recipient, hash FROM entry INDEXED BY entry_key")
        try statement.query { row in
            filter.insert(KeyHash(recipient: row.integer(0), key: row.integer(1)))
            seen += 1
            return true
        }
        return (filter, seen)
    }

    // MARK: - Removal

    /// Leaves a note next to the file, so that the file is discarded even if this process ends.
    func noteDamage(_ what: String) {
        let permissions = [FileAttributeKey.posixPermissions: 0o600]
        if FileManager.default.createFile(
            atPath: damageNote,
            contents: Data(what.utf8),
            attributes: permissions
        ) {
            return
        }
        // If the note cannot be created, delete the file itself; a process that has it open is not affected.
        try? remove()
    }

    /// The contents of the note; nil when there is none.
    func readDamageNote() -> String? {
        FileManager.default.contents(atPath: damageNote).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The disk space used by the file and its log.
    var diskBytes: Int {
        ["", "-wal", "-shm"].reduce(0) { sum, suffix in
            var status = stat()
            return stat(path + suffix, &status) == 0 ? sum + Int(status.st_size) : sum
        }
    }

    var exists: Bool { FileManager.default.fileExists(atPath: path) }

    /// - Throws: ``EntryStoreError``.
    func remove() throws {
        // Delete the note last: the damaged file must not outlive it.
        for file in [path, path + "-wal", path + "-shm", damageNote] where unlink(file) != 0 && errno != ENOENT {
            throw EntryStoreError.failed("\(file) cannot be deleted", errno: errno)
        }
    }
}
