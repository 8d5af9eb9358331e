/// The name of a medium in the store: what its bytes are, and their type.
package struct MediaName: Hashable, Sendable, CustomStringConvertible {
    package var digest: MediaDigest
    package var type: MediaType

    package init(digest: MediaDigest, type: MediaType) { (self.digest, self.type) = (digest, type) }

    /// - Parameter fileName: `<digest>.<extension>` as ``fileName`` writes it; nil for anything else, so a name from a
    ///   client never becomes a path elsewhere.
    package init?(fileName: some StringProtocol) {
        let parts = fileName.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let digest = MediaDigest(parts[0]),
            let type = MediaType(fileExtension: String(parts[1])),
            // One medium has one address: no other spelling of the extension.
            parts[1].utf8.elementsEqual(type.fileExtension.utf8)
        else { return nil }
        self.init(digest: digest, type: type)
    }

    /// `<digest>.<extension>`.
    package var fileName: String { "\(digest).\(type.fileExtension)" }

    package var description: String { fileName }
}

/// A medium that the store has.
package struct StoredMedia: Hashable, Sendable {
    package var digest: MediaDigest
    package var type: MediaType
    /// The size.
    package var bytes: Int64

    package init(digest: MediaDigest, type: MediaType, bytes: Int64) {
        (self.digest, self.type, self.bytes) = (digest, type, bytes)
    }

    package var name: MediaName { MediaName(digest: digest, type: type) }

    /// `<digest>.<extension>`.
    package var fileName: String { name.fileName }
}
