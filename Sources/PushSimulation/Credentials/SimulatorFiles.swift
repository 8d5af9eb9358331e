import Foundation

/// The files that the simulator leaves for its clients.
package enum SimulatorFiles {
    /// A larger file of a key or a certificate is a mistake.
    private static let maximumBytes = 1 << 20

    package static func makeDirectory(_ path: String) throws(SimulatorError) {
        do {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        } catch {
            throw SimulatorError("\(path) cannot be made: name a directory that can be written")
        }
    }

    /// - Parameter isSecret: Whether only its owner may read it.
    package static func write(_ bytes: [UInt8], to path: String, isSecret: Bool = false) throws(SimulatorError) {
        // With its rights from the beginning, and moved into place whole.
        let new = "\(path).\(ProcessInfo.processInfo.processIdentifier).new"
        let isMade = FileManager.default.createFile(
            atPath: new,
            contents: Data(bytes),
            attributes: [.posixPermissions: isSecret ? 0o600 : 0o644]
        )
        guard isMade, rename(new, path) == 0 else {
            throw SimulatorError("\(path) cannot be written: name a directory that can be")
        }
    }

    /// Nil when it cannot be read or is too large.
    package static func read(_ path: String) -> [UInt8]? {
        guard let file = FileHandle(forReadingAtPath: path), let data = try? file.read(upToCount: maximumBytes + 1),
            data.count <= maximumBytes
        else { return nil }
        return Array(data)
    }
}
