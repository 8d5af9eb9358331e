import Foundation
import OutboundHTTP
import Synchronization
import Testing

@testable import NotificationEnrichment

/// A directory for stores, removed at the end, and the clock of these stores.
final class StoreFolder: Sendable {
    let path: String
    private let time = Mutex<Int64>(1_000_000)

    init() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "media-store-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        path = url.path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// In milliseconds since 1970.
    var now: Int64 { time.withLock { $0 } }

    func advance(_ milliseconds: Int64) { time.withLock { $0 += milliseconds } }

    func store(bytes: Int64 = 1 << 30, files: Int = 1000, write: MediaDirectory.Write? = nil) throws -> MediaStore {
        let settings = MediaStore.Settings(directory: path, bytes: bytes, files: files)
        guard let write else { return try MediaStore(settings, now: { self.now }) }
        return try MediaStore(settings, now: { self.now }, write: write)
    }

    /// The path of a medium's file.
    func file(_ media: StoredMedia) -> String { "\(path)/\(media.fileName.prefix(2))/\(media.fileName)" }

    func has(_ media: StoredMedia) -> Bool { FileManager.default.fileExists(atPath: file(media)) }

    /// The names of downloads in progress, and of what crashes left behind.
    var incoming: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: "\(path)/incoming") }
    }

    /// The modification time of a medium's file, in milliseconds since 1970.
    func neededUntil(_ media: StoredMedia) throws -> Int64 {
        try #require(OwnedDescriptor.status(of: file(media))).modified
    }
}

extension MediaStore {
    /// Stores a medium.
    func put(_ text: String, until: Int64, type: MediaType = .png) throws -> StoredMedia {
        let writer = try write()
        try writer.append(text)
        return try writer.finish(type, neededUntil: until)
    }
}

extension MediaWriter {
    func append(_ text: String) throws(MediaStoreError) {
        let bytes = Array(text.utf8)
        var result: Result<Void, MediaStoreError> = .success(())
        bytes.withUnsafeBytes { bytes in
            result = Result { () throws(MediaStoreError) in try append(bytes) }
        }
        try result.get()
    }
}

extension OpenMedia {
    /// All bytes.
    var text: String {
        get throws {
            var bytes = [UInt8](repeating: 0, count: Int(media.bytes) + 1)
            let count = try bytes.withUnsafeMutableBytes { try read(at: 0, into: $0) }
            return String(decoding: bytes.prefix(count), as: UTF8.self)
        }
    }
}
