/// A medium that is open for reading. It stays readable when the store evicts it meanwhile; the file is closed with the
/// last reference.
package final class OpenMedia: Sendable {
    package let media: StoredMedia
    private let file: OwnedDescriptor

    init(_ media: StoredMedia, _ file: consuming OwnedDescriptor) {
        self.media = media
        self.file = file
    }

    /// The open file, for reading at positions only; it must not be closed.
    package var descriptor: Int32 { file.number }

    /// Reads from a position; blocks.
    ///
    /// - Parameters:
    ///   - position: At least 0.
    ///   - buffer: Takes the bytes.
    /// - Returns: How many bytes were read; 0 only at the end of the file.
    /// - Throws: ``MediaStoreError``.
    package func read(at position: Int64, into buffer: UnsafeMutableRawBufferPointer) throws(MediaStoreError) -> Int {
        try file.read(at: position, into: buffer)
    }
}
