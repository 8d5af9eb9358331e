import NotificationModel
import OutboundHTTP
import Synchronization

/// The lines of an input, each with what to fetch. Its calls block: only on a thread of their own.
final class MediaLines: Sendable {
    /// More than any URL that is allowed.
    static let maximumBytes = 16 << 10

    private struct Contents {
        var reader: LineReader
        /// Of the last line.
        var number = 0
    }

    private let contents: Mutex<Contents>

    /// - Parameter path: Nil for standard input.
    init(path: String? = nil) throws(CommandFailure) {
        do throws(LineReader.Failure) {
            contents = Mutex(Contents(reader: try LineReader(path: path, maximumBytes: Self.maximumBytes)))
        } catch {
            throw CommandFailure(error.description, status: ExitStatus.noInput)
        }
    }

    /// The next lines that are not blank: those that are there, at least one unless the time is over.
    ///
    /// - Parameters:
    ///   - count: The most lines to read.
    ///   - time: How long to wait for the first one.
    func next(atMost count: Int, within time: Duration) throws(CommandFailure) -> MediaBatch {
        try contents.withLock { contents throws(CommandFailure) in
            var batch = MediaBatch()
            for index in 0..<count {
                let step: LineReader.Step
                do throws(LineReader.Failure) {
                    step = try contents.reader.next(within: index == 0 ? time : .zero)
                } catch {
                    throw CommandFailure("standard input: \(error)", status: ExitStatus.noInput)
                }
                contents.number += 1
                switch step {
                case .line(let bytes):
                    if let item = MediaItem(line: contents.number, bytes) { batch.items.append(item) }
                case .tooLong:
                    let error = ModelError(.tooLarge, "a line has at most \(Self.maximumBytes) bytes")
                    batch.items.append(MediaItem(line: contents.number, .failure(error)))
                case .nothingYet:
                    contents.number -= 1
                    return batch
                case .end:
                    batch.isLast = true
                    return batch
                }
            }
            return batch
        }
    }
}

/// Some of the media to fetch.
struct MediaBatch: Sendable, Hashable {
    var items: [MediaItem] = []
    /// Whether no more follow.
    var isLast = false
}
