import CoreMetrics
import Hummingbird
import Logging
import NIOCore
import NotificationModel
import ServiceHTTP
import ServiceLifecycle
import ServiceSupport

/// Serves the page on this machine, and reads what it shows.
struct PhoneServer: Service {
    private let listen: HostPort
    private let feed: PhoneFeed
    private let routes: PhoneRoutes
    private let records: PhoneRecords
    private let logger: Logger
    private let bound = BoundPort()

    /// - Parameters:
    ///   - listen: a loopback address; port 0 takes a free one.
    ///   - connection: to the cluster whose topics are read.
    ///   - simulators: whose phones are shown.
    ///   - services: that apps talk to.
    ///   - browserKey: the public key of Web Push; nil when browsers are not reached.
    ///   - now: the wall clock.
    init(
        listen: HostPort,
        connection: Connection,
        simulators: [PhoneSimulator],
        services: PhoneServices,
        browserKey: String?,
        logger: Logger,
        now: @escaping @Sendable () -> Timestamp = SystemClock.now
    ) {
        let sources = simulators.map { $0.platform == .apns ? PhoneFeed.Source.apns : .fcm }
        feed = PhoneFeed([.kafka] + sources, epoch: "\(now().rawValue)")
        records = PhoneRecords(connection: connection, feed: feed, now: now)
        routes = PhoneRoutes(
            feed: feed,
            simulators: simulators,
            services: services,
            life: PhoneLife(connection: connection, application: services.application, now: now),
            browserKey: browserKey
        )
        (self.listen, self.logger) = (listen, logger)
    }

    /// The address, once it listens.
    var url: String {
        get async throws { "http://\(HostPort(host: listen.host, port: try await bound.wait()))/" }
    }

    func run() async throws {
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await serve() }
                group.addTask { try await cancelWhenGracefulShutdown { try await records.run() } }
                for simulator in routes.simulators {
                    group.addTask { await cancelWhenGracefulShutdown { await simulator.watch(feed) } }
                }
                group.addTask {
                    try? await gracefulShutdown()
                    // The streams of open pages would keep the server for ever.
                    feed.endAll()
                }
                for try await _ in group {}
            }
        } catch {
            bound.resolve(.failure(error))
            throw error
        }
        bound.resolve(.failure(CancellationError()))
    }

    private func serve() async throws {
        let listener = GuardedListener(
            name: "phone page",
            host: listen.host,
            port: listen.port,
            connections: 200,
            idleTimeout: .seconds(60),
            bounds: ConnectionBounds(
                targetBytes: 8 << 10,
                headerBytes: 16 << 10,
                headerCount: 100,
                receiveTimeout: .seconds(10),
                answerTimeout: .seconds(30),
                sendTimeout: .seconds(30),
                unanswered: Problem(.serviceUnavailable, .unavailable, "The call took too long.")
            ),
            memory: CallMemory(limit: 64 << 20),
            metrics: ConnectionMetrics(
                name: "phone",
                statuses: [],
                reasons: [],
                factory: NOOPMetricsHandler.instance
            ),
            logger: logger
        )
        let application = listener.application(
            routes.all,
            access: AccessControl(.thisMachine(host: listen.host))
        ) { bound.resolve(.success($0)) }
        do {
            try await application.run()
        } catch let error as IOError {
            throw CommandFailure(
                "cannot listen at \(listen): choose another port, or 0 for a free one (\(error.errnoCode))",
                status: ExitStatus.failed
            )
        }
    }
}
