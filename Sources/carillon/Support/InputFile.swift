import Foundation

/// A file that a command reads as a whole.
enum InputFile {
    /// Reads one byte more than the limit, so that the model detects what is too large.
    ///
    /// - Parameters:
    ///   - path: `-` for standard input.
    ///   - limit: the bytes that the model allows.
    static func read(_ path: String, upTo limit: Int) throws -> [UInt8] {
        do {
            let input =
                path == "-" ? FileHandle.standardInput : try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            var bytes: [UInt8] = []
            while bytes.count <= limit, let more = try input.read(upToCount: limit + 1 - bytes.count), !more.isEmpty {
                bytes += more
            }
            return bytes
        } catch {
            let isThere = path == "-" || FileManager.default.fileExists(atPath: path)
            throw CommandFailure(
                "\(path) \(isThere ? "cannot be read" : "does not exist")",
                status: ExitStatus.noInput
            )
        }
    }
}
