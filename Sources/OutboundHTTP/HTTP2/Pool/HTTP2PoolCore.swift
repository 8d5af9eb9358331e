import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// A pool on its event loop: reports to the plan what happens, and carries out its actions.
final class HTTP2PoolCore {
    var plan: HTTP2PoolPlan<HTTP2Request>
    let now: @Sendable () -> NIODeadline
    private let settings: HTTP2Pool.Settings
    private let origin: EgressURL
    private let hosts: GuardedHosts
    private let tls: NIOSSLContext
    private let eventLoop: any EventLoop
    private let observer: (any HTTP2PoolObserver)?
    /// Shared with the threads that send.
    private let inbox: HTTP2PoolInbox
    private let timer: PhaseTimer
    private var connections: [HTTP2ConnectionID: HTTP2ConnectionHandler] = [:]
    private var actions: [HTTP2PoolPlan<HTTP2Request>.Action] = []
    /// Connections to which something was written.
    private var written: [HTTP2ConnectionHandler] = []
    private var isProceeding = false
    private var isProceedNeeded = false
    private var onShutdown: [EventLoopPromise<Void>] = []

    init(
        _ settings: HTTP2Pool.Settings,
        to origin: EgressURL,
        hosts: GuardedHosts,
        tls: NIOSSLContext,
        sharing rate: HTTP2OpenRate?,
        on eventLoop: any EventLoop,
        inbox: HTTP2PoolInbox,
        observer: (any HTTP2PoolObserver)?,
        now: @escaping @Sendable () -> NIODeadline,
        random: @escaping @Sendable () -> Double
    ) {
        (self.settings, self.origin, self.hosts, self.tls, self.eventLoop) = (settings, origin, hosts, tls, eventLoop)
        (self.inbox, self.observer, self.now) = (inbox, observer, now)
        plan = HTTP2PoolPlan(settings, host: origin.host, sharing: rate, at: now(), random: random)
        timer = PhaseTimer(on: eventLoop)
    }

    // MARK: - What happens

    func answered(_ number: RequestNumber, _ answer: HTTP2Answer) {
        plan.answered(number, status: answer.status)?.onEnd(.success(answer))
    }

    /// - Parameter isSent: Whether the server may have processed the request.
    func failed(_ number: RequestNumber, _ failure: OutboundFailure, isSent: Bool = true) {
        var failure = failure
        failure.isSent = isSent
        plan.failed(number)?.onEnd(.failure(failure))
    }

    func closed(_ connection: HTTP2ConnectionID, _ failure: OutboundFailure) {
        connections[connection] = nil
        plan.closed(connection, failure, at: now())
        proceed()
    }

    func shutdown(by deadline: NIODeadline, _ promise: EventLoopPromise<Void>?) {
        if let promise { onShutdown.append(promise) }
        plan.shutdown(by: deadline)
        proceed()
    }

    // MARK: - Actions

    /// Takes what the threads have sent, and does what can be done now.
    func proceed() {
        // Called again by what it does: by an error of a write.
        guard !isProceeding else { return isProceedNeeded = true }
        isProceeding = true
        repeat {
            isProceedNeeded = false
            takeInbox()
            plan.proceed(at: now())
            swap(&actions, &plan.actions)
            for action in actions { perform(action) }
            actions.removeAll(keepingCapacity: true)
            for connection in written { connection.flush() }
            written.removeAll(keepingCapacity: true)
        } while isProceedNeeded
        isProceeding = false
        inbox.usage.withLock { $0 = plan.snapshot() }
        wait()
    }

    private func takeInbox() {
        let (requests, cancelled) = inbox.take()
        for request in requests {
            let size = request.body?.readableBytes ?? 0
            guard let number = plan.submit(request, size: size, request.priority, by: request.deadline) else {
                continue
            }
            request.number.store(number.rawValue, ordering: .relaxed)
        }
        for request in cancelled {
            plan.cancel(RequestNumber(rawValue: request.number.load(ordering: .relaxed)))
        }
    }

    private func wait() {
        if plan.isOver {
            timer.cancel()
            for promise in onShutdown { promise.succeed() }
            onShutdown = []
        } else if let next = plan.nextTime(at: now()) {
            timer.set(to: next) { [weak self] in self?.proceed() }
        } else {
            timer.cancel()
        }
    }

    private func perform(_ action: HTTP2PoolPlan<HTTP2Request>.Action) {
        switch action {
        case .send(let request, let number, let id, let stream):
            on(id) { $0.send(request, number, stream: stream) }
        case .reset(let id, let stream): on(id) { $0.reset(stream: stream) }
        case .ping(let id): on(id) { $0.ping() }
        case .close(let id): connections.removeValue(forKey: id)?.close()
        case .end(let request, let failure): request.onEnd(.failure(failure))
        case .note(let event): observer?.note(event)
        case .resolve(let id, let end): resolve(id, by: end)
        case .connect(let id, let address, let end): connect(id, address, by: end)
        }
    }

    private func on(_ id: HTTP2ConnectionID, _ body: (HTTP2ConnectionHandler) -> Void) {
        guard let connection = connections[id] else { return }
        if written.last !== connection { written.append(connection) }
        body(connection)
    }

    private func resolve(_ id: HTTP2ConnectionID, by end: NIODeadline) {
        let core = NIOLoopBound(self, eventLoop: eventLoop)
        eventLoop.makeFutureWithTask { [hosts, origin] in try await hosts.addresses(of: origin, by: end) }
            .whenComplete { result in
                let core = core.value
                switch result {
                case .success(let addresses): core.plan.resolved(id, addresses, at: core.now())
                case .failure(let error):
                    let failure = error as? OutboundFailure ?? OutboundFailure(.unresolved, "\(core.origin.host)")
                    core.plan.closed(id, failure, at: core.now())
                }
                core.proceed()
            }
    }

    private func connect(_ id: HTTP2ConnectionID, _ address: IPAddress, by end: NIODeadline) {
        let handler = HTTP2ConnectionHandler(id, to: origin, in: self, answerBytes: settings.answerBytes)
        connections[id] = handler
        let bound = NIOLoopBound((core: self, handler: handler), eventLoop: eventLoop)
        do {
            OutboundConnector.bootstrap(on: eventLoop, within: max(.milliseconds(1), end - now()))
                .channelInitializer { [tls, origin] channel in
                    channel.eventLoop.makeCompletedFuture {
                        let pipeline = channel.pipeline.syncOperations
                        if origin.usesTLS { try pipeline.addHandler(CertificateName.handler(tls, for: origin)) }
                        try pipeline.addHandler(bound.value.handler)
                    }
                }
                .connect(to: try SocketAddress(ipAddress: address.description, port: origin.port))
                .whenComplete { result in
                    let core = bound.value.core
                    switch result {
                    case .success(let channel):
                        // The plan has given it up meanwhile.
                        if core.connections[id] == nil { channel.close(promise: nil) }
                    case .failure(let error):
                        core.closed(id, OutboundConnector.failure(error, to: core.origin, at: address))
                    }
                }
        } catch {
            closed(id, OutboundConnector.failure(error, to: origin, at: address))
        }
    }
}
