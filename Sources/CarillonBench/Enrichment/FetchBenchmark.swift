import Foundation
import NIOCore
import NIOSSL
import NotificationEnrichment
import NotificationModel
import OutboundHTTP

/// Images that nginx has, each with its own pixels.
struct ServedImages {
    /// As the product of a camera or a shop.
    static let imageBytes = 50_000

    let urls: [String]
    /// Of all together.
    let bytes: Int
    let nginx: Nginx
    private let folder: URL

    init(_ count: Int, _ certificate: TestCertificate, on workbench: Workbench) throws {
        folder = workbench.place("images")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        var bytes = 0
        for number in 0..<count {
            let image = PNGImage.bytes(number, bytes: Self.imageBytes)
            bytes += image.count
            try Data(image).write(to: folder.appendingPathComponent("\(number).png"))
        }
        let port = try FreePort.find()
        nginx = try Nginx(.files(in: folder.path, port: port, certificate), on: workbench)
        urls = (0..<count).map { "https://127.0.0.1:\(port)/\($0).png" }
        self.bytes = bytes
    }
}

/// The fetcher of the service with a new store: fetches, checks and stores images.
struct FetchBenchmark {
    /// Fetches at a time, each with a connection of its own.
    let concurrency: Int
    let certificate: String
    let workbench: Workbench

    /// Longer than any measurement.
    private static let patience = TimeAmount.seconds(600)

    /// Fetches all into a new directory.
    ///
    /// - Throws: ``BenchmarkError`` when one fails or is not stored.
    func run(_ images: ServedImages) throws -> TransferRate {
        let folder = workbench.place("media")
        let cpu = try ProcessSample.own().cpuSeconds
        let clock = ContinuousClock()
        let begin = clock.now
        let store = try store(in: folder)
        let fetcher = try fetcher(of: store, images.urls)
        defer { fetcher.close() }
        try Self.fetch(images.urls, with: fetcher, concurrency: concurrency).value()
        let time = clock.now - begin
        let used = try ProcessSample.own().cpuSeconds - cpu
        let usage = store.usage
        guard usage.files == images.urls.count, usage.bytes == images.bytes else {
            throw BenchmarkError("\(usage.files) of \(images.urls.count) images are stored, \(usage.bytes) bytes")
        }
        return TransferRate(images.urls.count, in: time, cpuSeconds: used)
    }

    func store(in folder: URL) throws -> MediaStore {
        try MediaStore(.init(directory: folder.path, bytes: 1 << 40), now: { SystemClock.now().rawValue })
    }

    /// With the default settings, except for connections, and for time limits that a slow machine may exceed.
    func fetcher(of store: MediaStore, _ urls: [String]) throws -> MediaFetcher {
        var settings = MediaFetcher.Settings()
        // A single host has a share of the connections.
        (settings.connections, settings.connectionsPerHost) = (2 * concurrency, concurrency)
        (settings.wholeTimeout, settings.firstByteTimeout) = (Self.patience, Self.patience)
        settings.connectTimeout = Self.patience
        let origins = Set(urls.map { $0.split(separator: "/").prefix(2).joined(separator: "//") })
        return try MediaFetcher(
            settings,
            policy: EgressPolicy(internalOrigins: Array(origins)),
            store: store,
            roots: .file(certificate)
        )
    }

    /// Begins to fetch all, some at a time.
    static func fetch(_ urls: [String], with fetcher: MediaFetcher, concurrency: Int) -> BackgroundWork<Void> {
        BackgroundWork {
            try await withThrowingTaskGroup(of: Void.self) { group in
                var left = urls[...]
                func start() {
                    guard let url = left.popFirst() else { return }
                    group.addTask { try await fetch(url, with: fetcher) }
                }
                for _ in 0..<concurrency { start() }
                while try await group.next() != nil { start() }
            }
        }
    }

    private static func fetch(_ url: String, with fetcher: MediaFetcher) async throws {
        let request = MediaRequest(
            url: url,
            neededUntil: SystemClock.now().adding(milliseconds: 3_600_000).rawValue,
            deadline: .now() + patience
        )
        if case .failure(let failure) = await fetcher.fetch(request) {
            throw BenchmarkError("an image was not fetched: \(failure)")
        }
    }
}
