import Synchronization

/// The writing of one download: hashes and writes what comes, and gives it its name at the end. Its calls block.
///
/// A writer that is neither finished nor abandoned leaves nothing behind either when its last reference goes.
package final class MediaWriter: Sendable {
    private struct Download: ~Copyable, Sendable {
        var file: TemporaryFile
        var digest: MediaDigest.Builder
        /// Reserved in the store, and written unless a write failed.
        var bytes: Int64 = 0
    }

    private let store: MediaStore
    private let owner: MediaOwner
    private let download: Mutex<Download?>

    init(
        _ store: MediaStore,
        for owner: MediaOwner,
        _ file: consuming sending TemporaryFile
    ) throws(MediaStoreError) {
        (self.store, self.owner) = (store, owner)
        download = Mutex(Download(file: file, digest: try MediaDigest.Builder()))
    }

    deinit { abandon() }

    /// Adds the next bytes of the medium; best up to 64 KiB at once. After an error nothing remains of the download.
    ///
    /// - Throws: ``MediaStoreError``.
    package func append(_ bytes: UnsafeRawBufferPointer) throws(MediaStoreError) {
        do throws(MediaStoreError) {
            try download.withLock { download throws(MediaStoreError) in
                guard download != nil else { throw Self.over }
                try store.reserve(Int64(bytes.count), for: owner)
                download?.bytes += Int64(bytes.count)
                download?.digest.append(bytes)
                try download?.file.append(bytes)
            }
        } catch {
            abandon()
            throw error
        }
    }

    /// Stores the medium. If the store has it already, that file stays, and is needed for at least as long.
    ///
    /// The bytes are not forced to the disk: after a crash of the machine a medium may be missing or damaged, and the
    /// next download replaces it.
    ///
    /// - Parameters:
    ///   - type: What the bytes are.
    ///   - neededUntil: In milliseconds since 1970; until then the medium is not evicted.
    /// - Throws: ``MediaStoreError``; then nothing remains of the download.
    package func finish(_ type: MediaType, neededUntil: Int64) throws(MediaStoreError) -> StoredMedia {
        guard var download = download.withLock({ $0.take() }) else { throw Self.over }
        let bytes = download.bytes
        do throws(MediaStoreError) {
            guard bytes > 0 else { throw MediaStoreError(.failed, "an empty medium cannot be stored") }
            let until = neededUntil.clamped(to: OwnedDescriptor.latest)
            try download.file.complete(neededUntil: until, of: owner)
            let media = StoredMedia(digest: download.digest.digest(), type: type, bytes: bytes)
            try store.place(download.file, as: media, for: owner, until: until)
            return media
        } catch {
            store.release(bytes, for: owner)
            throw error
        }
    }

    /// Gives the download up and removes its file; does nothing after the end.
    package func abandon() {
        guard let download = download.withLock({ $0.take() }) else { return }
        store.release(download.bytes, for: owner)
    }

    private static let over = MediaStoreError(.failed, "the download has been finished or abandoned")
}
