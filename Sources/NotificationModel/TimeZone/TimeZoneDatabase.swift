import Synchronization

/// The zones of a directory of the IANA time zone database, as Debian's package `tzdata` installs it.
///
/// Names come from the directory's `tzdata.zi`, or else from a walk over its files; nothing but them is ever opened. Each
/// zone is read once and kept, so the number of names bounds the memory (a few megabytes for all). Call ``preload()`` where
/// the directory may change under the running process.
public final class TimeZoneDatabase: Sendable {
    /// The directory that is used unless another is given.
    public static let systemDirectory = "/usr/share/zoneinfo"

    /// The database of the system, read at its first use.
    public static let system: Result<TimeZoneDatabase, TimeZoneError> = {
        do throws(TimeZoneError) {
            return .success(try TimeZoneDatabase())
        } catch {
            return .failure(error)
        }
    }()

    /// Where the files are.
    public let directory: String
    /// `2025b`; if the directory does not say it, a digest of all of its zones: `fnv1a-` and 16 hexadecimal digits.
    public let version: String
    /// The names of all zones, aliases included, sorted.
    public let identifiers: [String]
    private let known: Set<String>
    private let cache = Mutex<[String: TimeZoneRules]>([:])

    /// Reads the names and the version of a directory's database.
    ///
    /// Throws ``TimeZoneError/noDatabase(directory:detail:)`` if it has no zones, or more than a database can have.
    public init(directory: String = TimeZoneDatabase.systemDirectory) throws(TimeZoneError) {
        self.directory = directory
        let files = TimeZoneFiles(directory: directory)
        let listed = try files.listed()
        if let listed {
            // Some distributions list zones whose files are in another package.
            known = Set(listed.names.filter(files.hasFile))
        } else {
            known = Set(try files.found())
        }
        identifiers = known.sorted()
        guard !identifiers.isEmpty else {
            throw .noDatabase(directory: directory, detail: "no file in it is a time zone")
        }
        if let version = listed?.version ?? files.plainVersion() {
            self.version = version
        } else {
            version = try files.digest(of: identifiers)
        }
    }

    /// A database of TZif files that are given by their contents; no directory is read.
    ///
    /// Throws ``TimeZoneError/damaged(zone:detail:)``.
    package init(version: String, files: [String: [UInt8]]) throws(TimeZoneError) {
        var zones: [String: TimeZoneRules] = [:]
        for (name, bytes) in files { zones[name] = try Self.rules(named: name, bytes) }
        (directory, self.version) = ("", version)
        known = Set(files.keys)
        identifiers = known.sorted()
        cache.withLock { [zones] in $0 = zones }
    }

    /// Whether the database has a zone of this name. Never reads a file.
    public func contains(_ name: String) -> Bool {
        known.contains(name) && TimeZoneFiles.isName(name)
    }

    /// The rules of a zone, by its name or alias as the database spells it.
    ///
    /// Throws ``TimeZoneError``: `unknown` for all that is not in ``identifiers``, which includes paths, `posix/` and
    /// `right/`; `unreadable` or `damaged` for what is wrong with the file.
    public func rules(named name: String) throws(TimeZoneError) -> TimeZoneRules {
        if let rules = cache.withLock({ $0[name] }) { return rules }
        guard contains(name) else { throw .unknown(zone: ModelError.bounded(PrintableText.escaped(name), 64)) }
        let rules = try Self.rules(named: name, TimeZoneFiles(directory: directory).zone(name))
        return cache.withLock { cache in
            if let first = cache[name] { return first }
            cache[name] = rules
            return rules
        }
    }

    private static func rules(named name: String, _ bytes: [UInt8]) throws(TimeZoneError) -> TimeZoneRules {
        do throws(TimeZoneFile.Damage) {
            return TimeZoneRules(name: name, file: try TimeZoneFile(bytes), digest: TimeZoneFiles.hash(bytes))
        } catch {
            throw .damaged(zone: name, detail: error.detail)
        }
    }

    /// Reads all zones now, so that a later change of the directory mixes no two versions. Some tens of milliseconds.
    ///
    /// Returns what is wrong with zones that cannot be used; the others can.
    @discardableResult
    public func preload() -> [TimeZoneError] {
        identifiers.compactMap { name in
            do throws(TimeZoneError) {
                _ = try rules(named: name)
                return nil
            } catch {
                return error
            }
        }
    }
}
