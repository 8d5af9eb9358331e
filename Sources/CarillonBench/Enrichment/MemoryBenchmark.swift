import Foundation
import NotificationEnrichment
import OutboundHTTP

/// The memory of the fetcher while many large downloads are in progress at the same time.
struct MemoryBenchmark {
    struct Result {
        /// Peak of the resident memory, beyond that of the fetcher after one small download.
        var peakExtraBytes: Int
        /// In the files of the downloads when the server sent the ends.
        var heldBytes: Int
    }

    let downloads: Int
    /// Of each image.
    let bytes: Int
    let certificate: TestCertificate
    let curl: Curl
    let workbench: Workbench

    /// The end of an answer that the server sends last: more than the fetcher, TLS and the sockets hold.
    private static let heldBytes = 100_000
    /// What the fetcher has read and not written of a download: it collects 64 KiB, and reads as much at a time.
    private static let collectedBytes = 128 * 1024
    private static let patience = Duration.seconds(600)

    /// Downloads all images. The server sends their ends when everything else is written: then all are in progress.
    func run() throws -> Result {
        workbench.report("memory: \(downloads) downloads of \(bytes) bytes")
        let large = try ImageServer(.init(bytes: bytes, heldBytes: Self.heldBytes), certificate, curl, on: workbench)
        let small = try ImageServer(.init(bytes: ServedImages.imageBytes), certificate, curl, on: workbench)
        let folder = workbench.place("media")
        let fetches = FetchBenchmark(
            concurrency: downloads,
            certificate: certificate.certificate,
            workbench: workbench
        )
        let store = try fetches.store(in: folder)
        let fetcher = try fetches.fetcher(of: store, large.urls(1) + small.urls(1))
        defer { fetcher.close() }
        // What the first download needs stays: tables, threads, certificates.
        try FetchBenchmark.fetch(small.urls(1), with: fetcher, concurrency: 1).value()

        let idle = try ProcessSample.own().residentBytes
        try Self.resetPeak()
        let work = FetchBenchmark.fetch(large.urls(downloads), with: fetcher, concurrency: downloads)
        let held = try awaitParts(in: folder.appendingPathComponent("incoming"), of: work, large)
        try work.value()
        let peak = try ProcessSample.own().peakResidentBytes
        return Result(peakExtraBytes: max(0, peak - idle), heldBytes: held)
    }

    /// Has the kernel take the present memory of this process for its peak.
    private static func resetPeak() throws {
        do {
            try Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/self/clear_refs"))
        } catch {
            throw BenchmarkError("this kernel cannot reset the peak of a process's memory: \(error)")
        }
    }

    /// Waits until everything but the ends is in the files, then has the server send these.
    ///
    /// - Returns: the bytes in the files.
    private func awaitParts(in folder: URL, of work: BackgroundWork<Void>, _ server: ImageServer) throws -> Int {
        let least = downloads * max(0, bytes - PNGImage.mostMissing - Self.heldBytes - Self.collectedBytes)
        let deadline = ContinuousClock.now + Self.patience
        while true {
            _ = try server.process.sample()
            // Before the server sends the ends only a failure ends the work.
            if let outcome = work.outcome { try outcome.get() }
            let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).count
            let written = try Workbench.bytes(ofFilesIn: folder.path)
            if files == downloads, written >= least {
                try server.open()
                return written
            }
            guard ContinuousClock.now < deadline else {
                throw BenchmarkError("\(files) of \(downloads) downloads have \(written) bytes after \(Self.patience)")
            }
            Thread.sleep(forTimeInterval: 0.1)
        }
    }
}
