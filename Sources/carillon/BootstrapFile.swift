import Foundation

/// A file that holds the bootstrap servers of a running broker, and exists only while it is ready: what waits for it may begin.
struct BootstrapFile: Sendable {
    private let path: String

    /// Removes what an earlier run left, so that nobody takes it for this one.
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

    /// Writes it whole: under another name first, so that a reader never sees half a line.
    func write(_ bootstrapServers: String) throws {
        try Data("\(bootstrapServers)\n".utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
    }

    func remove() {
        try? FileManager.default.removeItem(atPath: path)
    }
}
