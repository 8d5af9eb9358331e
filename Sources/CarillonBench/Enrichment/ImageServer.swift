import ArgumentParser
import Foundation
import Hummingbird
import HummingbirdCore
import HummingbirdTLS
import Logging
import NIOCore
import NIOPosix
import NIOSSL

/// A server that has one image under every path but `/open`, in its own process. It answers late, or holds the end of
/// each answer back until it is told to go on.
final class ImageServer {
    let process: SubjectProcess
    private let base: String
    private let curl: Curl

    /// How it answers.
    struct Behavior {
        /// Of the image.
        var bytes: Int
        /// From the request to the head of the answer.
        var delay = Duration.zero
        /// The end of an answer that waits for ``ImageServer/open()``.
        var heldBytes = 0
    }

    /// Starts it; blocking until it answers.
    ///
    /// - Parameter certificate: nil for a server without TLS.
    init(_ behavior: Behavior, _ certificate: TestCertificate?, _ curl: Curl, on workbench: Workbench) throws {
        let port = try FreePort.find()
        (base, self.curl) = ("http\(certificate == nil ? "" : "s")://127.0.0.1:\(port)", curl)
        process = try SubjectProcess(
            Programs.own,
            [
                "image-server", "--port", "\(port)", "--bytes", "\(behavior.bytes)",
                "--delay", "\(behavior.delay / .milliseconds(1))", "--held", "\(behavior.heldBytes)",
            ] + (certificate.map { ["--certificate", $0.certificate, "--key", $0.key] } ?? []),
            on: workbench
        )
        for _ in 0..<1_200 {
            _ = try process.sample()
            if try curl.isAnswered("\(base)/ready") { return }
            Thread.sleep(forTimeInterval: 0.05)
        }
        throw BenchmarkError("the server of images does not answer on port \(port)")
    }

    var origin: String { base }

    /// Different addresses of its image.
    func urls(_ count: Int) -> [String] { (0..<count).map { "\(base)/\($0).png" } }

    /// Lets it send the ends of all answers.
    func open() throws {
        guard try curl.isAnswered("\(base)/open") else { throw BenchmarkError("the server of images is gone") }
    }
}

/// `carillon-bench image-server`: for the benchmark `enrichment`.
struct ImageServerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "image-server",
        abstract: "Has one PNG image under every path; the ends of answers wait until /open is called.",
        shouldDisplay: false
    )

    /// At a time: as the buffer of a socket.
    private static let partBytes = 64 * 1024

    @Option var port: Int
    @Option(help: "The size of the image.")
    var bytes: Int
    @Option(help: "Milliseconds until an answer begins.")
    var delay = 0.0
    @Option(help: "Bytes at the end of an answer that wait for /open.")
    var held = 0
    @Option var certificate: String?
    @Option var key: String?

    func run() async throws {
        let image = ByteBuffer(bytes: PNGImage.bytes(0, bytes: bytes))
        let isOpen = MultiThreadedEventLoopGroup.singleton.any().makePromise(of: Void.self)
        if held == 0 { isOpen.succeed() }
        let router = Router()
        router.get("/ready") { _, _ in HTTPResponse.Status.noContent }
        router.get("/open") { _, _ in
            isOpen.succeed()
            return HTTPResponse.Status.noContent
        }
        router.get("/:image") { [delay, held] _, _ in
            try await Task.sleep(for: .milliseconds(delay))
            let body = ResponseBody(contentLength: image.readableBytes) { writer in
                var left = image
                while left.readableBytes > held {
                    let count = min(Self.partBytes, left.readableBytes - held)
                    guard let part = left.readSlice(length: count) else { break }
                    try await writer.write(part)
                }
                try await isOpen.futureResult.get()
                try await writer.write(left)
                try await writer.finish(nil)
            }
            return Response(status: .ok, headers: [.contentType: "image/png"], body: body)
        }
        var logger = Logger(label: "image-server")
        logger.logLevel = .error
        try await Application(
            router: router,
            server: try server(),
            configuration: .init(address: .hostname("127.0.0.1", port: port), backlog: 4096),
            logger: logger
        ).runService()
    }

    private func server() throws -> HTTPServerBuilder {
        guard let certificate, let key else { return .http1() }
        let tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMFile(certificate).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(file: key, format: .pem))
        )
        return try .tls(.http1(), tlsConfiguration: tls)
    }
}
