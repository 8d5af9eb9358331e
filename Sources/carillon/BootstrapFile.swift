import Foundation

/// A file with the bootstrap servers of a running broker. It exists only while the broker is ready, so that scripts can
/// wait for it.
struct BootstrapFile: Sendable {
    private let path: String

    /// Removes the file of an earlier run, so that it is not mistaken for this one's.
    init(path: String) throws {
        self.path = path
        var isDirectory: ObjCBool = false
        if FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) {
            guard !isDirectory.boolValue else {
                throw CommandFailure("--bootstrap-file: \(path) is a directory", status: ExitStatus.usage)
            }
            try FileManager.default.removeItem(atPath: path)
        }
    }

    /// Writes the file atomically: under another name first, so that a reader never sees half a line.
    func write(_ bootstrapServers: String) throws {
        try Data("\(bootstrapServers)\n".utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
    }

    func remove() {
        try? FileManager.default.removeItem(atPath: path)
    }
}
