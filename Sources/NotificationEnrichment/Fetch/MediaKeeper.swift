import OutboundHTTP
import NIOPosix

/// Keeps stored media for longer; the store blocks, so on a thread.
struct MediaKeeper: Sendable {
    let store: MediaStore
    let threads: NIOThreadPool

    /// - Parameters:
    ///   - stored: that the store had.
    ///   - until: in milliseconds since 1970.
    /// - Returns: false when the store does not have it any more.
    /// - Throws: the store's failure, or `cancelled`.
    func keep(_ stored: MediaBody.Stored, _ until: Int64) async throws(OutboundFailure) -> Bool {
        do {
            return try await threads.runIfActive { [store] in try store.keep(stored.media, until: until) }
        } catch let error as MediaStoreError {
            throw OutboundFailure(error)
        } catch {
            throw .cancelled
        }
    }
}
