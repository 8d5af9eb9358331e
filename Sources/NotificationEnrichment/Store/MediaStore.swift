import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The media of notifications, each under the digest of its bytes, in a directory that several instances may share.
///
/// The size is bounded. When there is no room, what has not been needed for longest goes first; what is still needed is
/// never evicted, and the new medium is refused with `store-full`. Every call blocks: use a thread pool.
package final class MediaStore: Sendable {
    package struct Settings: Hashable, Sendable {
        /// Created if missing; its parent must exist.
        package var directory: String
        /// The bound of all media together, downloads in progress included.
        package var bytes: Int64
        /// The bound of the number of media: the index takes about 150 bytes of memory for each.
        package var files: Int
        /// The part of both that one application may have, in percent.
        package var share: Int

        package init(directory: String, bytes: Int64, files: Int = 1_000_000, share: Int = 100) {
            (self.directory, self.bytes, self.files, self.share) = (directory, bytes, files, share)
        }
    }

    /// How often the directory is read to see what other instances did, in milliseconds.
    private static let scanInterval: Int64 = 60_000
    /// The same when there is no room, since others may have made some.
    private static let scanIntervalWhenFull: Int64 = 1000

    private let settings: Settings
    private let directory: MediaDirectory
    private let now: @Sendable () -> Int64
    private let index: Mutex<MediaIndex>
    private let evicted = Atomic(0)

    /// Opens the directory, reads what it has, and removes what a crash left behind.
    ///
    /// - Parameters:
    ///   - settings: The directory and its bounds.
    ///   - now: Milliseconds since 1970.
    /// - Throws: ``MediaStoreError``.
    package convenience init(
        _ settings: Settings,
        now: @escaping @Sendable () -> Int64
    ) throws(MediaStoreError) {
        try self.init(settings, now: now, write: { Self.write($0, $1) })
    }

    /// - Parameters:
    ///   - settings: The directory and its bounds.
    ///   - now: Milliseconds since 1970.
    ///   - write: As `write(2)`.
    /// - Throws: ``MediaStoreError``.
    init(
        _ settings: Settings,
        now: @escaping @Sendable () -> Int64,
        write: @escaping MediaDirectory.Write
    ) throws(MediaStoreError) {
        self.settings = settings
        self.now = now
        directory = MediaDirectory(path: settings.directory, write: write)
        index = Mutex(MediaIndex(bytes: settings.bytes, files: settings.files, share: settings.share))
        try directory.prepare()
        try directory.removeLeftovers(at: now())
        try scan(after: 0)
        // The bound may be lower than at the last run; what is needed may exceed it.
        _ = try makeRoom(for: 0, of: .nobody)
    }

    private static func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        #if canImport(Glibc)
        Glibc.write(descriptor, bytes.baseAddress, bytes.count)
        #elseif canImport(Musl)
        Musl.write(descriptor, bytes.baseAddress, bytes.count)
        #elseif canImport(Darwin)
        Darwin.write(descriptor, bytes.baseAddress, bytes.count)
        #endif
    }

    /// The media that the store knows, and their size; downloads in progress do not count.
    package var usage: (files: Int, bytes: Int64) { index.withLock { ($0.count, $0.bytes) } }

    /// How many media this instance has evicted.
    package var evictions: Int { evicted.load(ordering: .relaxed) }

    /// Begins a download.
    ///
    /// - Parameter owner: For whom; the medium counts for it as long as it is stored.
    /// - Throws: ``MediaStoreError``.
    package func write(for owner: MediaOwner = MediaOwner(application: "")) throws(MediaStoreError) -> MediaWriter {
        // A directory that cannot be read now fails the writing itself if it matters.
        _ = try? scan(after: Self.scanInterval)
        return try MediaWriter(self, for: owner, directory.temporaryFile())
    }

    /// Has a medium kept for longer; never for shorter.
    ///
    /// - Parameters:
    ///   - media: As it was stored.
    ///   - until: In milliseconds since 1970.
    /// - Returns: False when the store does not have it any more: download it again.
    /// - Throws: ``MediaStoreError``.
    package func keep(_ media: StoredMedia, until: Int64) throws(MediaStoreError) -> Bool {
        guard
            case .kept(let until) = try directory.keep(media, until: until.clamped(to: OwnedDescriptor.latest))
        else {
            index.withLock { $0.remove(media.name) }
            return false
        }
        index.withLock { $0.add(media.name, .init(bytes: media.bytes, neededUntil: until)) }
        return true
    }

    /// Opens a medium to serve it.
    ///
    /// - Parameter fileName: `<digest>.<extension>`; it may come from a client.
    /// - Returns: Nil when there is no such medium, or the name is none of the store's.
    /// - Throws: ``MediaStoreError``.
    package func open(_ fileName: String) throws(MediaStoreError) -> OpenMedia? {
        guard let name = MediaName(fileName: fileName) else { return nil }
        guard let media = try directory.open(name) else {
            index.withLock { $0.remove(name) }
            return nil
        }
        return media
    }

    /// The path of a medium that the store has.
    package func path(of media: StoredMedia) -> String { directory.file(of: media.name) }

    // MARK: - For writers

    /// Reserves room for bytes of a download; evicts media if necessary.
    ///
    /// - Throws: ``MediaStoreError`` `store-full`.
    func reserve(_ bytes: Int64, for owner: MediaOwner) throws(MediaStoreError) {
        var room = try makeRoom(for: bytes, of: owner)
        if room != .reserved, (try? scan(after: Self.scanIntervalWhenFull)) == true {
            room = try makeRoom(for: bytes, of: owner)
        }
        if room == .reserved { return }
        guard room == .full else {
            throw MediaStoreError(
                .full,
                "an application may have \(settings.share) percent of \(settings.directory), and all of that is needed"
            )
        }
        throw MediaStoreError(
            .full,
            "\(settings.directory) may have \(settings.bytes) bytes and \(settings.files) files, and all are needed: "
                + "raise the bound"
        )
    }

    func release(_ bytes: Int64, for owner: MediaOwner) { index.withLock { $0.release(bytes, for: owner) } }

    /// Gives a complete download its name; its reserved bytes become those of the medium.
    ///
    /// - Throws: ``MediaStoreError``; then the bytes stay reserved.
    func place(
        _ file: borrowing TemporaryFile,
        as media: StoredMedia,
        for owner: MediaOwner,
        until: Int64
    ) throws(MediaStoreError) {
        let until = try directory.place(file, as: media, until: until)
        index.withLock { index in
            index.release(media.bytes, for: owner)
            index.add(media.name, .init(bytes: media.bytes, neededUntil: until, owner: owner))
        }
    }

    // MARK: - The bound

    /// - Returns: `full` or `shareFull` when there is no room and nothing to evict.
    private func makeRoom(for bytes: Int64, of owner: MediaOwner) throws(MediaStoreError) -> MediaIndex.Room {
        while true {
            let now = now()
            switch index.withLock({ $0.reserve(bytes, for: owner, at: now) }) {
            case .evict(let name, let entry): try evict(name, entry, at: now)
            case let room: return room
            }
        }
    }

    private func evict(_ name: MediaName, _ entry: MediaIndex.Entry, at now: Int64) throws(MediaStoreError) {
        do throws(MediaStoreError) {
            switch try directory.evict(name, at: now) {
            case .removed: evicted.add(1, ordering: .relaxed)
            case .gone: break
            case .needed(let entry): index.withLock { $0.add(name, entry) }
            }
        } catch {
            // The file is still there and takes room.
            index.withLock { $0.add(name, entry) }
            throw error
        }
    }

    /// Renews the index from the directory, unless that happened lately or happens now.
    ///
    /// - Returns: Whether it did.
    @discardableResult
    private func scan(after interval: Int64) throws(MediaStoreError) -> Bool {
        let now = now()
        guard index.withLock({ $0.beginScan(at: now, after: interval) }) else { return false }
        let found = Result { () throws(MediaStoreError) in try directory.scan() }
        index.withLock { $0.endScan(try? found.get()) }
        _ = try found.get()
        return true
    }
}
