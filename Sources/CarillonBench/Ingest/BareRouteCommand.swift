import ArgumentParser
import Hummingbird
import Logging

/// `carillon bench bare-route`: what `bench ingest` compares with; the framework and nothing else.
struct BareRouteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bare-route",
        abstract: "A Hummingbird route that reads its body and answers 202.",
        shouldDisplay: false
    )

    @Option var port: Int

    func run() async throws {
        let router = Router()
        router.put("/v1/recipients/:recipient/notifications/:identifier") { request, _ in
            let body = try await request.body.collect(upTo: 1 << 18)
            return Response(
                status: .accepted,
                headers: [.contentType: "application/json"],
                body: .init(byteBuffer: ByteBuffer(string: "{\"bytes\":\(body.readableBytes)}"))
            )
        }
        var logger = Logger(label: "bare-route")
        logger.logLevel = .error
        try await Application(
            router: router,
            configuration: .init(address: .hostname("127.0.0.1", port: port)),
            logger: logger
        ).runService()
    }
}
