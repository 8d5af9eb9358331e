import HTTPTypes
import Hummingbird
public import Logging
import NIOCore
public import ServiceLifecycle

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Where the ops endpoint listens.
///
/// ## Settings
/// - `ops.host` (text, default `127.0.0.1`): the address to bind; `0.0.0.0` for a scraper on another machine.
/// - `ops.port` (integer, 0 to 65535, default by service): 0 takes a free port and logs it.
public struct OpsConfiguration: Sendable, Hashable {
    /// The address to bind.
    public var host: String
    /// The port to bind; 0 takes a free one.
    public var port: Int

    /// Says where to listen.
    public init(host: String = "127.0.0.1", port: Int) {
        self.host = host
        self.port = port
    }

    /// Reads `ops.host` and `ops.port`.
    ///
    /// - Parameters:
    ///   - settings: Where to read; the caller ends reading.
    ///   - defaultPort: The port of this service when none is given.
    public init(settings: inout ServiceSettings, defaultPort: Int) {
        host = settings.string(
            "ops.host",
            default: "127.0.0.1",
            about: "The address of /metrics and /health; `0.0.0.0` for a scraper on another machine."
        )
        port = settings.int(
            "ops.port",
            default: defaultPort,
            in: 0...65_535,
            about: "The port of /metrics and /health; 0 takes a free one and logs it."
        )
    }
}

/// The operator's HTTP endpoint, on a port of its own so that it can stay private.
///
/// - `GET /metrics`: the Prometheus text format.
/// - `GET /health/live`: 200, or 503 when only a restart would help.
/// - `GET /health/ready`: 200, or 503 with every component that is not ready and why:
///   `{"status":"not ready","components":[{"component":"kafka","why":"no broker answers"}]}`
///   What works with less than it should have is under `remarks`, in the same form, with either status.
public struct OpsServer: Service {
    private let configuration: OpsConfiguration
    private let health: Health
    private let registry: PrometheusRegistry
    private let logger: Logger
    private let bound = BoundPort()

    /// Prepares the server; ``run()`` binds and serves.
    public init(configuration: OpsConfiguration, health: Health, registry: PrometheusRegistry, logger: Logger) {
        self.configuration = configuration
        self.health = health
        self.registry = registry
        self.logger = logger
    }

    /// The port it listens on, once it does.
    ///
    /// - Throws: ``ListenError`` when it could not, `CancellationError` when the caller was cancelled.
    public var port: Int {
        get async throws { try await bound.wait() }
    }

    /// Serves until graceful shutdown or cancellation.
    ///
    /// - Throws: ``ListenError`` when the address cannot be bound.
    public func run() async throws {
        var quiet = logger
        // The framework's own notices would only repeat ours.
        quiet.logLevel = max(logger.logLevel, .warning)
        let application = Application(
            responder: CallbackResponder<BasicRequestContext> { request, _ in respond(to: request) },
            configuration: .init(address: .hostname(configuration.host, port: configuration.port)),
            onServerRunning: { channel in
                let port = channel.localAddress?.port ?? configuration.port
                logger.info(
                    "ops endpoint listens",
                    metadata: [LogMetadata.host: "\(configuration.host)", LogMetadata.port: "\(port)"]
                )
                bound.resolve(.success(port))
            },
            logger: quiet
        )
        do {
            try await application.run()
        } catch let error as IOError {
            let failure = ListenError(
                what: "ops endpoint",
                host: configuration.host,
                port: configuration.port,
                reason: String(cString: strerror(error.errnoCode))
            )
            bound.resolve(.failure(failure))
            throw failure
        } catch {
            bound.resolve(.failure(error))
            throw error
        }
        // Only waiters of a server that was stopped before it listened are still there.
        bound.resolve(.failure(CancellationError()))
    }

    private func respond(to request: Request) -> Response {
        let answer: (HTTPResponse.Status, type: String, body: String)
        switch request.uri.path {
        case "/metrics":
            answer = (.ok, "text/plain; version=0.0.4; charset=utf-8", registry.exposition())
        case "/health/live":
            let reports = health.notLive
            answer = (reports.isEmpty ? .ok : .serviceUnavailable, "application/json", Self.json("live", reports))
        case "/health/ready":
            let reports = health.notReady
            answer = (
                reports.isEmpty ? .ok : .serviceUnavailable, "application/json",
                Self.json("ready", reports, health.remarks)
            )
        default:
            return Response(status: .notFound)
        }
        guard request.method == .get || request.method == .head else {
            return Response(status: .methodNotAllowed, headers: [.allow: "GET, HEAD"])
        }
        let response = Response(
            status: answer.0,
            headers: [.contentType: answer.type, .cacheControl: "no-store"],
            body: .init(byteBuffer: ByteBuffer(string: answer.body))
        )
        return request.method == .head ? response.createHeadResponse() : response
    }

    private static func json(_ word: String, _ reports: [Health.Report], _ remarks: [Health.Report] = []) -> String {
        func list(_ name: String, _ reports: [Health.Report]) -> String {
            guard !reports.isEmpty else { return "" }
            let items = reports.map { report in
                "{\"component\":\(JSONText.quoted(report.component)),\"why\":\(JSONText.quoted(report.why))}"
            }
            return ",\"\(name)\":[\(items.joined(separator: ","))]"
        }
        let status = reports.isEmpty ? word : "not \(word)"
        return "{\"status\":\"\(status)\"\(list("components", reports))\(list("remarks", remarks))}\n"
    }
}

/// A server could not listen at its address.
public struct ListenError: Error, Sendable, CustomStringConvertible {
    /// Which server.
    public var what: String
    /// The address it was to bind.
    public var host: String
    /// The port it was to bind.
    public var port: Int
    /// What the system said.
    public var reason: String

    /// Names the server, the address and the reason.
    public init(what: String, host: String, port: Int, reason: String) {
        self.what = what
        self.host = host
        self.port = port
        self.reason = reason
    }

    /// `ops endpoint cannot listen on 127.0.0.1:8081: …`
    public var description: String {
        "\(what) cannot listen on \(host):\(port): \(reason)"
    }
}
