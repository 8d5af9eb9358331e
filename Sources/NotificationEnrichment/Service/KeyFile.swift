import Logging
import NIOPosix
import OutboundHTTP
import ServiceSupport

/// A file of keys in use, which may change while the service runs.
struct KeyFile: Sendable {
    let path: String
    /// What the keys sign, for the log.
    let what: String
    /// Replaces the keys.
    let use: @Sendable ([[UInt8]]) -> Void

    /// What reads the files again; nil without any. A file that cannot be used changes nothing, and is logged.
    static func reloading(_ files: [KeyFile], _ logger: Logger) -> (@Sendable () async -> Void)? {
        guard !files.isEmpty else { return nil }
        return {
            for file in files { await file.reload(logger) }
        }
    }

    private func reload(_ logger: Logger) async {
        do {
            let keys = try await NIOThreadPool.singleton.runIfActive { [path] in try SigningKeyFile.keys(path: path) }
            use(keys)
            logger.notice(
                "the keys of \(what) are read again",
                metadata: [LogMetadata.file: "\(path)", LogMetadata.count: "\(keys.count)"]
            )
        } catch {
            logger.error(
                "the keys of \(what) are not read again: the previous ones stay in force",
                metadata: [LogMetadata.file: "\(path)", LogMetadata.error: "\(error)"]
            )
        }
    }
}
