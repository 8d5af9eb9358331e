import Foundation
import Kafka
import NotificationEnrichment
import NotificationModel
import OutboundHTTP
import ServiceSupport

/// The fetcher and the store of the command, as the consumer service has them.
struct MediaFetching: Sendable {
    struct Settings: Sendable {
        /// With the options of the command.
        var egress: EgressConfiguration
        /// With the options of the command; without a directory the media are removed at the end.
        var media: MediaConfiguration
        /// Of media without one.
        var typeHint: String?
        /// Media at one time.
        var concurrency = 8
    }

    private let settings: Settings
    private let fetcher: MediaFetcher
    private let store: MediaStore
    /// Removed at the end; nil with a directory of the settings.
    let temporary: TemporaryDirectory?

    /// Opens the store. Blocks.
    ///
    /// - Throws: ``CommandFailure``.
    init(_ settings: Settings) throws(CommandFailure) {
        self.settings = settings
        let media = settings.media
        temporary = media.directory.isEmpty ? try TemporaryDirectory(named: "carillon-media") : nil
        var bytes = Int64(media.megabytes) << 20
        if temporary != nil {
            // Enough for all downloads at one time; what is done may go.
            let largest = Int64(max(media.audioBytes, media.imageBytes, media.movieBytes))
            bytes = min(bytes, Int64(2 * settings.concurrency) * largest)
        }
        do {
            store = try MediaStore(
                MediaStore.Settings(directory: temporary?.path ?? media.directory, bytes: bytes),
                now: { SystemClock.now().rawValue }
            )
            fetcher = try MediaFetcher(
                .init(media, settings.egress),
                policy: settings.egress.mediaPolicy(),
                store: store,
                authorities: settings.egress.authorities()
            )
        } catch {
            temporary?.remove()
            throw CommandFailure("\(error)", status: ExitStatus.failed)
        }
    }

    /// Fetches a medium, unless its line is invalid.
    func report(on item: MediaItem) async -> MediaReport {
        let target: MediaItem.Target
        do throws(ModelError) {
            target = try item.target.get()
        } catch {
            return MediaReport(line: item.line, outcome: .invalid(error))
        }
        let kept = temporary == nil ? settings.media.kept.milliseconds : 0
        let request = MediaRequest(
            url: target.url,
            typeHint: target.typeHint ?? settings.typeHint,
            neededUntil: SystemClock.now().adding(milliseconds: kept).rawValue,
            within: settings.media.timeout
        )
        let recorder = StepRecorder()
        let result = await fetcher.fetch(request, onStep: { recorder.record($0) })
        let outcome: MediaReport.Outcome =
            switch result {
            case .success(let media): .fetched(media, file: temporary == nil ? store.path(of: media.stored) : nil)
            case .failure(let failure): .refused(failure)
            }
        return MediaReport(line: item.line, url: target.url, steps: recorder.steps, outcome: outcome)
    }

    /// Closes the connections and removes what is not to be kept. Blocks.
    func close() {
        fetcher.close()
        temporary?.remove()
    }
}

/// A new directory that only this user can read.
struct TemporaryDirectory: Sendable {
    let path: String

    /// - Parameter name: The first part of its name.
    init(named name: String) throws(CommandFailure) {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("\(name)-\(UUID().uuidString)").path
        do {
            try FileManager.default.createDirectory(
                atPath: path,
                withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o700]
            )
        } catch {
            throw CommandFailure(
                "\(path) cannot be created: set TMPDIR to a directory for temporary files",
                status: ExitStatus.failed
            )
        }
    }

    /// Removes it with all it has. Blocks.
    func remove() {
        // A download that was cancelled may still write.
        for _ in 0..<50 {
            try? FileManager.default.removeItem(atPath: path)
            guard FileManager.default.fileExists(atPath: path) else { return }
            Thread.sleep(forTimeInterval: 0.02)
        }
        Terminal.writeError("\(path) cannot be removed: remove it\n")
    }
}
