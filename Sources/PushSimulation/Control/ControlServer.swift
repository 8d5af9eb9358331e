import CoreMetrics
import Hummingbird
import Logging
import NIOCore
package import NIOSSL
import NotificationModel
package import ServiceHTTP

/// A server of HTTP/1.1 on the loopback address, such as a control interface with JSON.
package struct ControlServer: Sendable {
    package let port: Int
    private let task: Task<Void, any Error>

    package static let host = "127.0.0.1"

    /// - Parameters:
    ///   - routes: The calls that it answers.
    ///   - name: Of the simulator.
    ///   - port: 0 takes a free one.
    ///   - tls: nil for plain HTTP.
    package static func start(
        _ routes: [Route],
        of name: String,
        port: Int,
        tls: NIOSSLContext? = nil
    ) async throws -> ControlServer {
        let metrics = ConnectionMetrics(
            name: "control",
            statuses: [],
            reasons: [],
            factory: NOOPMetricsHandler.instance
        )
        var context: (@Sendable () -> NIOSSLContext)?
        if let tls { context = { tls } }
        let listener = GuardedListener(
            name: name,
            host: host,
            port: port,
            connections: 1_000,
            idleTimeout: .seconds(60),
            bounds: ConnectionBounds(
                targetBytes: 8 << 10,
                headerBytes: 16 << 10,
                headerCount: 100,
                receiveTimeout: .seconds(10),
                answerTimeout: .seconds(10),
                sendTimeout: .seconds(60),
                unanswered: Problem(.serviceUnavailable, .unavailable, "The call took too long.")
            ),
            tls: context,
            memory: CallMemory(limit: 64 << 20),
            metrics: metrics,
            logger: Logger(label: name) { _ in SwiftLogNoOpLogHandler() }
        )
        let (ports, listens) = AsyncThrowingStream.makeStream(of: Int.self)
        let application = listener.application(
            routes,
            access: AccessControl(.thisMachine(host: host))
        ) { listens.yield($0) }
        let task = Task {
            do {
                try await application.run()
                listens.finish()
            } catch {
                listens.finish(throwing: error)
                throw error
            }
        }
        do {
            for try await port in ports { return ControlServer(port: port, task: task) }
        } catch is IOError {}
        task.cancel()
        throw SimulatorError("cannot listen at \(host):\(port): choose another port, or 0 for a free one")
    }

    package func stop() async {
        task.cancel()
        _ = await task.result
    }
}
