import NIOCore
import NIOPosix
import NotificationModel
import Synchronization

/// What the connections share: the state, and the list of them.
final class SimulatorCore: Sendable {
    /// Connections at most: further ones are closed at once.
    static let connectionCapacity = 10_000

    let state: Mutex<SimulatorState>
    let authority: CertificateAuthority
    let now: @Sendable () -> Timestamp
    private let connections = Mutex(Connections())

    private struct Connections {
        var last = 0
        var open: [Int: Connection] = [:]
    }

    /// A connection, as others reach it.
    struct Connection: Sendable {
        let channel: any Channel
        let handler: NIOLoopBound<APNsConnectionHandler>
        let openedAt: Timestamp
    }

    init(_ state: SimulatorState, _ authority: CertificateAuthority, now: @escaping @Sendable () -> Timestamp) {
        self.state = Mutex(state)
        self.authority = authority
        self.now = now
    }

    func respond(
        to headers: RequestHeaders,
        body: UnsafeRawBufferPointer,
        on connection: inout ConnectionState
    ) -> Outcome {
        let now = now()
        return state.withLock { $0.respond(to: headers, body: body, on: &connection, at: now) }
    }

    /// The next connection's number; nil when there are too many.
    func nextConnection() -> Int? {
        connections.withLock { connections in
            guard connections.open.count < Self.connectionCapacity else { return nil }
            connections.last += 1
            return connections.last
        }
    }

    func opened(_ number: Int, _ channel: any Channel, _ handler: NIOLoopBound<APNsConnectionHandler>) {
        let connection = Connection(channel: channel, handler: handler, openedAt: now())
        connections.withLock { $0.open[number] = connection }
        state.withLock { $0.statistics.connections += 1 }
    }

    func closed(_ number: Int) { connections.withLock { $0.open[number] = nil } }

    /// The connections whose handshake has succeeded, by number.
    var open: [(number: Int, connection: Connection)] {
        connections.withLock { $0.open }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// Does something with a connection, on its event loop.
    ///
    /// - Returns: False when there is none with this number.
    func onConnection(_ number: Int, _ body: @escaping @Sendable (APNsConnectionHandler) -> Void) async -> Bool {
        guard let connection = connections.withLock({ $0.open[number] }) else { return false }
        let done = connection.channel.eventLoop.submit {
            body(connection.handler.value)
            return true
        }
        return await (try? done.get()) ?? false
    }

    /// Makes the certificate of a provider, and its key, on a thread that may block.
    func issue(for bundleIdentifier: String) async throws -> (certificate: [UInt8], key: [UInt8]) {
        try await NIOThreadPool.singleton.runIfActive { [authority] in try authority.issue(for: bundleIdentifier) }
    }

    var summaries: [ConnectionSummary] {
        get async {
            var summaries: [ConnectionSummary] = []
            for (_, connection) in open {
                let summary = connection.channel.eventLoop.submit { connection.handler.value.summary }
                if let summary = try? await summary.get() { summaries.append(summary) }
            }
            return summaries
        }
    }

    /// Whether GOAWAY may name it: none, or a stream of a client.
    static func isStream(_ number: Int) -> Bool {
        number == 0 || (1...Int(Int32.max)).contains(number) && !number.isMultiple(of: 2)
    }
}
