import HTTPTesting
import Logging
import NIOPosix
import ServiceHTTP
import ServiceSupport
import Testing

@testable import NotificationEnrichment

@Suite("Serving media over HTTP", .timeLimit(.minutes(5)))
struct MediaServingTests {
    /// Sleeps meanwhile: a loop would take the time of the other tests, and of the server.
    private static func wait(until condition: () -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(240)
        while !condition() {
            try #require(ContinuousClock.now < deadline)
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    @Test("readers that take nothing hold the bound of their address, and give it back when they go")
    func slowReaders() async throws {
        let folder = try StoreFolder()
        let store = try folder.store()
        // More than the sockets buffer: Linux lets one grow to 32 MiB.
        let media = try store.put(String(repeating: "x", count: 96 << 20), until: .max)
        var bounds = MediaTransfers.Settings()
        (bounds.mostOfClient, bounds.minimumRate) = (2, 0)
        let transfers = MediaTransfers(bounds)
        let handler = MediaHandler(
            store: store,
            links: MediaLinks(base: "http://localhost", keys: []),
            transfers: transfers,
            threads: .singleton,
            now: { 0 }
        )
        // Nothing but their own end may end the readers, also on a machine that is busy.
        var configuration = HTTPConfiguration(prefix: "listen", port: 0)
        (configuration.deadline, configuration.receiveTimeout) = (.seconds(300), .seconds(300))
        let http = try HTTPInterface(
            name: "media",
            configuration: configuration,
            health: Health().component("media"),
            logger: Logger(label: "test")
        )
        let metrics = ConnectionMetrics(name: "media", statuses: [], reasons: [], factory: PrometheusRegistry())
        let server = Task {
            try await http.serve(handler.routes, unanswered: .overloaded, metrics, drainTimeout: .zero)
        }
        let port = try await http.port
        let target = "/media/\(media.fileName)"
        var readers: [RawConnection] = []
        for _ in 0..<2 {
            let reader = try await RawConnection.open(port: port)
            await reader.send(RawHTTP.request("GET", target))
            readers.append(reader)
        }
        try await Self.wait { transfers.count >= 2 }
        let refused = try await RawHTTP(port: port).send("GET", target)
        #expect(refused.status == 503 && refused["reason"] == "overloaded", "\(refused.status), \(transfers.count)")
        #expect(readers.count == 2)
        readers = []
        try await Self.wait { transfers.count == 0 }
        let whole = try await RawHTTP(port: port).send("GET", target)
        #expect(whole.status == 200 && whole.body.count == 96 << 20)
        let head = try await RawHTTP(port: port).send("HEAD", target)
        #expect(head.status == 200)
        try await Self.wait { transfers.count == 0 }
        server.cancel()
        _ = await server.result
    }
}
