import Hummingbird
package import Logging
import NIOCore
import NIOPosix
package import NotificationModel
package import ServiceHTTP
import ServiceLifecycle
package import ServiceTracing

/// A service's HTTP API: its address, access control and bounds, and its server while the service runs.
package struct HTTPInterface: Sendable {
    private let name: String
    private let configuration: HTTPConfiguration
    private let defaultApplication: String
    private let now: @Sendable () -> Timestamp
    private let security: ListenerSecurity
    private let health: HealthComponent
    /// That its calls have open at one time at most.
    private let files: Int
    private let bound = BoundPort()
    private let tracer: Tracer?
    private let logger: Logger

    /// Reads the tokens and the certificate, and warns of files with secrets that every user can read.
    ///
    /// - Parameters:
    ///   - name: Its name in the log: `HTTP API`.
    ///   - configuration: The settings.
    ///   - defaultApplication: The application of calls, and of tokens, that name none.
    ///   - now: The wall clock, for tokens that end.
    ///   - files: Files that its calls have open at one time at most, besides their connections.
    ///   - health: Ready while it listens.
    ///   - tracer: Gets spans of its calls; nil where nothing is traced.
    ///   - logger: The service's logger.
    package init(
        name: String,
        configuration: HTTPConfiguration,
        defaultApplication: String = "default",
        now: @escaping @Sendable () -> Timestamp = SystemClock.now,
        files: Int = 0,
        health: HealthComponent,
        tracer: Tracer? = nil,
        logger: Logger
    ) throws(ListenerSettingsError) {
        (self.files, self.tracer) = (files, tracer)
        (self.name, self.configuration, self.health, self.logger) = (name, configuration, health, logger)
        (self.defaultApplication, self.now) = (defaultApplication, now)
        security = try ListenerSecurity(
            host: configuration.host,
            hostKey: configuration.hostKey,
            files: ListenerFiles(
                tokens: configuration.tokensFile,
                recipientKeys: configuration.recipientKeysFile,
                certificate: configuration.tlsCertificate,
                key: configuration.tlsKey
            ),
            defaultApplication: defaultApplication
        )
        warnOfExposedFiles()
    }

    private func warnOfExposedFiles() {
        for file in security.exposedFiles {
            logger.warning(
                "every user of this machine can read a file with secrets: restrict its permissions (chmod o-r)",
                metadata: [LogMetadata.file: "\(file)"]
            )
        }
    }

    /// Whether there are files that ``reload()`` reads.
    package var hasFiles: Bool { security.hasFiles }

    /// Reads the tokens, the recipients' keys and the certificate again, for the calls and connections that follow. A file
    /// that cannot be used changes nothing, and is logged.
    package func reload() async {
        guard hasFiles else { return }
        // The closure does not throw.
        let problems = (try? await NIOThreadPool.singleton.runIfActive { [security] in security.reload() }) ?? []
        for problem in problems {
            logger.error(
                "\(name): a file is not read again: the previous one stays in force",
                metadata: [LogMetadata.error: "\(problem)"]
            )
        }
        if problems.isEmpty { logger.notice("\(name): tokens, keys and certificates are read again") }
        warnOfExposedFiles()
    }

    /// The port, once it listens.
    ///
    /// - Throws: `ListenError` when it failed to listen, `CancellationError` when the caller was cancelled or the
    ///   service ended before.
    package var port: Int {
        get async throws { try await bound.wait() }
    }

    /// The service ends: whoever waits for the port gets the error.
    package func end(_ error: any Error) {
        bound.resolve(.failure(error))
    }

    /// Serves until the graceful shutdown, and at most `drainTimeout` longer, even if a caller never finishes its request.
    ///
    /// - Parameters:
    ///   - routes: The routes of the API.
    ///   - unanswered: The answer to a call that its handler does not answer within the deadline.
    ///   - metrics: Counts connections and answers.
    ///   - drainTimeout: How long calls in progress may take after the shutdown began.
    /// - Throws: `ListenError` when the address cannot be bound.
    package func serve(
        _ routes: [Route],
        unanswered: Problem,
        _ metrics: ConnectionMetrics,
        drainTimeout: Duration
    ) async throws {
        defer { health.notReady("stopped") }
        if security.exposesTokens {
            logger.warning(
                "clients send tokens unencrypted: set http.tls.certificate and http.tls.key, or terminate TLS in front of this service",
                metadata: [LogMetadata.host: "\(configuration.host)"]
            )
        }
        let control = AccessControl(security.access, defaultApplication: defaultApplication, now: now)
        let application = listener(metrics, unanswered).application(routes, access: control) { port in
            health.ready()
            bound.resolve(.success(port))
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                do {
                    try await application.run()
                } catch let error as IOError {
                    throw ListenError(
                        what: name,
                        host: configuration.host,
                        port: configuration.port,
                        code: error.errnoCode,
                        setting: configuration.prefix
                    )
                }
            }
            group.addTask {
                try? await gracefulShutdown()
                try? await Task.sleep(for: drainTimeout)
            }
            // Whichever ends first: the server, or the timeout.
            try await group.next()
            group.cancelAll()
        }
    }

    private func listener(_ metrics: ConnectionMetrics, _ unanswered: Problem) -> GuardedListener {
        let idleTimeout = TimeAmount(configuration.idleTimeout)
        var listener = GuardedListener(
            name: name,
            host: configuration.host,
            port: configuration.port,
            connections: connectionLimit(),
            idleTimeout: idleTimeout,
            bounds: ConnectionBounds(
                targetBytes: configuration.targetBytes,
                headerBytes: configuration.headerBytes,
                headerCount: configuration.headerCount,
                receiveTimeout: TimeAmount(configuration.receiveTimeout),
                answerTimeout: TimeAmount(configuration.deadline),
                sendTimeout: idleTimeout,
                unanswered: unanswered
            ),
            tls: security.tlsOfConnections,
            memory: CallMemory(limit: configuration.callBytes),
            metrics: metrics,
            logger: logger
        )
        listener.tracer = tracer
        return listener
    }

    private func connectionLimit() -> Int {
        let limit = OpenFiles.makeRoom(forConnections: configuration.connections, and: files)
        if limit < configuration.connections {
            logger.warning(
                "http.connections was lowered to the process's limit of open files; raise the limit (ulimit -n)",
                metadata: [LogMetadata.count: "\(limit)"]
            )
        }
        return limit
    }
}
