import HTTPTypes
import Hummingbird
import Kafka
import NIOCore
import NotificationModel
import ServiceHTTP
import ServiceSupport
import Synchronization

/// The whole life of one notification, as `carillon explain --html` writes it.
final class PhoneLife: Sendable {
    /// Lives that are read at one time, and how long one may take: a page reads all that the topics have.
    private static let (most, longest) = (2, Duration.seconds(60))

    private let connection: Connection
    private let application: String
    private let now: @Sendable () -> Timestamp
    private let reading = Mutex(0)

    /// - Parameters:
    ///   - connection: to the cluster.
    ///   - application: where none is named.
    ///   - now: the wall clock.
    init(connection: Connection, application: String, now: @escaping @Sendable () -> Timestamp) {
        (self.connection, self.application, self.now) = (connection, application, now)
    }

    var route: Route {
        PhoneGuard.route(.get, "/v1/recipients/{recipient}/notifications/{identifier}/explain") { call, _ in
            let parameters = try call.target.parameters(allowed: ["application"])
            let key = try NotificationKey(
                application: parameters["application"] ?? self.application,
                recipient: call.parameter("recipient"),
                identifier: call.parameter("identifier")
            )
            guard let html = try await self.html(of: key) else {
                throw Problem(
                    .notFound,
                    .notFound,
                    "The topics have nothing of it, or not any more.",
                    field: "identifier"
                )
            }
            var response = Response(status: .ok, body: .init(byteBuffer: ByteBuffer(string: html)))
            response.headers[.contentType] = "text/html; charset=utf-8"
            response.headers[.cacheControl] = "no-store"
            PhoneFiles.protect(&response, policy: LifePage.policy + "; frame-ancestors 'none'")
            return response
        }
    }

    /// - Returns: nil when there is nothing of it.
    private func html(of key: NotificationKey) async throws -> String? {
        let isFree = reading.withLock { count in
            guard count < Self.most else { return false }
            count += 1
            return true
        }
        guard isFree else { throw Problem(.serviceUnavailable, .overloaded, "Other lives are being read: try again.") }
        defer { reading.withLock { $0 -= 1 } }
        let reader = LifeReader(connection: connection, key: key, since: nil, until: nil, follows: false)
        let (made, stop) = (now(), StopSignal())
        let timer = Task {
            try await Task.sleep(for: Self.longest)
            stop.request()
        }
        defer { timer.cancel() }
        do {
            let html = try await withTaskCancellationHandler {
                try await KafkaThread.run(name: "explain") {
                    var page = LifePage(key, made: made)
                    return try reader.read(until: stop) { page.add($0) } ? page.html : nil
                }
            } onCancel: {
                stop.request()
            }
            guard !stop.isRequested else {
                throw Problem(.serviceUnavailable, .unavailable, "It takes too long here: use carillon explain.")
            }
            return html
        } catch let failure as CommandFailure {
            throw Problem(.badGateway, .unavailable, "Kafka: \(failure)")
        }
    }
}
