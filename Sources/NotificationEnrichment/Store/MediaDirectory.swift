#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The files of the store:
///
///     <directory>/<first two digits>/<digest>.<extension>
///     <directory>/incoming/                               downloads in progress
///
/// A file's modification time is the instant until which the medium is needed: instances that share the directory see
/// it, and a restart needs no other file. Whoever lengthens it or removes the file holds the file's lock, so that no
/// instance removes what another one has just been promised. The file system must have hard links and `flock`.
struct MediaDirectory: Sendable {
    /// `write(2)`, except in tests.
    typealias Write = @Sendable (_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int

    /// What became of a file that should be kept.
    enum Kept: Equatable {
        /// - Parameter until: At least the wanted instant, in milliseconds since 1970.
        case kept(until: Int64)
        case gone
        /// It has another size than its medium: the machine crashed before the file was on the disk.
        case damaged
    }

    /// What became of a file that should be evicted.
    enum Eviction: Equatable {
        case removed, gone
        case needed(MediaIndex.Entry)
    }

    /// What a crash left behind is older, in milliseconds; a download in progress changes its file more often.
    static let leftoverAge: Int64 = 3_600_000
    /// How long a file counts as needed while another process holds its lock, in milliseconds.
    private static let busyTime: Int64 = 1000
    private static let digits = "0123456789abcdef"

    let path: String
    private let write: Write

    private var incoming: String { "\(path)/incoming" }

    init(path: String, write: @escaping Write) {
        self.path = path
        self.write = write
    }

    /// Creates the directories.
    ///
    /// - Throws: ``MediaStoreError``.
    func prepare() throws(MediaStoreError) {
        try Self.create(path)
        try Self.create(incoming)
        restrictFolders()
    }

    private static func create(_ directory: String) throws(MediaStoreError) {
        guard mkdir(directory, 0o700) == 0 || errno == EEXIST else {
            throw MediaStoreError(errno: errno, "\(directory) cannot be created")
        }
    }

    /// Closes the folders that an older version created for everybody. The directory itself may be the operator's.
    private func restrictFolders() {
        for folder in [incoming] + folders { _ = chmod(folder, 0o700) }
    }

    /// The folders that media may be in.
    private var folders: [String] {
        Self.digits.flatMap { high in Self.digits.map { low in "\(path)/\(high)\(low)" } }
    }

    private static func create(file: String) -> Int32 {
        #if canImport(Glibc)
        Glibc.open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        #elseif canImport(Musl)
        Musl.open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        #elseif canImport(Darwin)
        Darwin.open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        #endif
    }

    private func directory(of name: MediaName) -> String { "\(path)/\(name.digest.description.prefix(2))" }

    func file(of name: MediaName) -> String { "\(directory(of: name))/\(name.fileName)" }

    // MARK: - Writing

    /// - Throws: ``MediaStoreError``.
    func temporaryFile() throws(MediaStoreError) -> TemporaryFile {
        while true {
            // Instances have no other names to tell their files apart; one that is taken is not used.
            let path = "\(incoming)/\(String(UInt64.random(in: 0...UInt64.max), radix: 16))"
            let number = OwnedDescriptor.retrying { Self.create(file: path) }
            if number >= 0 { return TemporaryFile(OwnedDescriptor(owning: number), path: path, write: write) }
            let code = errno
            guard code == EEXIST else { throw MediaStoreError(errno: code, "\(path) cannot be created") }
        }
    }

    /// Gives a complete download its name. A file that has the name already stays, and is needed for as long.
    ///
    /// - Parameters:
    ///   - file: Complete; its modification time is `until`.
    ///   - media: What it is.
    ///   - until: In milliseconds since 1970.
    /// - Returns: Until when the file in place is needed.
    /// - Throws: ``MediaStoreError``.
    func place(
        _ file: borrowing TemporaryFile,
        as media: StoredMedia,
        until: Int64
    ) throws(MediaStoreError) -> Int64 {
        let place = self.file(of: media.name)
        // Other instances may remove the file that is in the way, or put another one there.
        for _ in 0..<4 {
            if link(file.path, place) == 0 { return until }
            switch errno {
            case ENOENT: try Self.create(directory(of: media.name))
            case EEXIST:
                switch try keep(media, until: until) {
                case .kept(let until): return until
                case .gone: continue
                case .damaged:
                    guard rename(file.path, place) == 0 else {
                        throw MediaStoreError(errno: errno, "\(place) is damaged and cannot be replaced")
                    }
                    return until
                }
            case let code: throw MediaStoreError(errno: code, "\(place) cannot be created")
            }
        }
        throw MediaStoreError(.failed, "\(place) cannot be created: other processes remove it, or \(file.path)")
    }

    /// Lengthens the time for which a file is needed; never shortens it.
    ///
    /// - Throws: ``MediaStoreError``.
    func keep(_ media: StoredMedia, until: Int64) throws(MediaStoreError) -> Kept {
        let path = file(of: media.name)
        guard let file = try OwnedDescriptor.existing(path, O_RDWR) else { return .gone }
        _ = try file.lock(waits: true)
        let status = try file.status()
        guard OwnedDescriptor.status(of: path)?.isSameFile(as: status) == true else { return .gone }
        guard status.bytes == media.bytes else { return .damaged }
        guard status.modified < until else { return .kept(until: status.modified) }
        try file.setModified(until, of: status.owner)
        return .kept(until: until)
    }

    // MARK: - Reading and removing

    /// - Returns: Nil when there is no such file.
    /// - Throws: ``MediaStoreError``.
    func open(_ name: MediaName) throws(MediaStoreError) -> OpenMedia? {
        guard let file = try OwnedDescriptor.existing(file(of: name), O_RDONLY) else { return nil }
        let status = try file.status()
        // No medium is empty: a crash of the machine leaves such files.
        guard status.isRegular, status.bytes > 0 else { return nil }
        return OpenMedia(StoredMedia(digest: name.digest, type: name.type, bytes: status.bytes), file)
    }

    /// Removes a file unless it is needed after all.
    ///
    /// - Parameters:
    ///   - name: The file.
    ///   - now: In milliseconds since 1970.
    /// - Throws: ``MediaStoreError``.
    func evict(_ name: MediaName, at now: Int64) throws(MediaStoreError) -> Eviction {
        let path = file(of: name)
        guard let file = try OwnedDescriptor.existing(path, O_RDWR) else { return .gone }
        let isLocked = try file.lock(waits: false)
        let status = try file.status()
        guard isLocked else {
            return .needed(MediaIndex.Entry(bytes: status.bytes, neededUntil: now + Self.busyTime, owner: status.owner))
        }
        guard OwnedDescriptor.status(of: path)?.isSameFile(as: status) == true else { return .gone }
        guard status.modified <= now else {
            return .needed(MediaIndex.Entry(bytes: status.bytes, neededUntil: status.modified, owner: status.owner))
        }
        try file.unlink(path)
        return .removed
    }

    /// All media of the directory. Other files are ignored.
    ///
    /// - Throws: ``MediaStoreError``.
    func scan() throws(MediaStoreError) -> [MediaName: MediaIndex.Entry] {
        var found: [MediaName: MediaIndex.Entry] = [:]
        for folder in folders {
            for entry in try Self.list(folder) {
                guard let name = MediaName(fileName: entry), file(of: name) == "\(folder)/\(entry)",
                    let status = OwnedDescriptor.status(of: file(of: name)), status.isRegular
                else { continue }
                found[name] = MediaIndex.Entry(
                    bytes: status.bytes,
                    neededUntil: status.modified,
                    owner: status.owner
                )
            }
        }
        return found
    }

    /// Removes downloads that a crash interrupted; not those of other instances.
    ///
    /// - Parameter now: In milliseconds since 1970.
    /// - Throws: ``MediaStoreError``.
    func removeLeftovers(at now: Int64) throws(MediaStoreError) {
        for entry in try Self.list(incoming) {
            let path = "\(incoming)/\(entry)"
            guard let status = OwnedDescriptor.status(of: path), status.isRegular,
                status.changed < now - Self.leftoverAge
            else { continue }
            _ = unlink(path)
        }
    }

    /// The names in a directory; none when it does not exist.
    private static func list(_ directory: String) throws(MediaStoreError) -> [String] {
        guard let listing = opendir(directory) else {
            guard errno == ENOENT else { throw MediaStoreError(errno: errno, "\(directory) cannot be listed") }
            return []
        }
        defer { closedir(listing) }
        var names: [String] = []
        while true {
            // `readdir` reports its end and its errors both with nil.
            errno = 0
            guard let entry = readdir(listing) else { break }
            names.append(
                withUnsafePointer(to: &entry.pointee.d_name) { name in
                    String(cString: UnsafeRawPointer(name).assumingMemoryBound(to: CChar.self))
                }
            )
        }
        guard errno == 0 else { throw MediaStoreError(errno: errno, "\(directory) cannot be listed") }
        return names
    }
}
