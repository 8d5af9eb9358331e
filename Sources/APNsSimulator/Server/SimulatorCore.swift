import NIOHPACK
import NIOPosix
import NotificationModel
import PushSimulation
import Synchronization

/// What the connections share: the state, and the list of them.
final class SimulatorCore: Sendable {
    let state: Mutex<SimulatorState>
    let authority: CertificateAuthority
    let now: @Sendable () -> Timestamp
    let connections = ServerConnections()

    init(_ state: SimulatorState, _ authority: CertificateAuthority, now: @escaping @Sendable () -> Timestamp) {
        self.state = Mutex(state)
        self.authority = authority
        self.now = now
    }

    /// Makes the certificate of a provider, and its key, on a thread that may block.
    func issue(for bundleIdentifier: String) async throws -> (certificate: [UInt8], key: [UInt8]) {
        try await NIOThreadPool.singleton.runIfActive { [authority] in try authority.issue(for: bundleIdentifier) }
    }

    var summaries: [ConnectionSummary] {
        get async {
            var summaries: [ConnectionSummary] = []
            for number in connections.numbers {
                let summary = await connections.on(number) { handler in
                    (handler.connection as? APNsConnection).map { ConnectionSummary($0.state, handler) }
                }
                if let summary = summary ?? nil { summaries.append(summary) }
            }
            return summaries
        }
    }
}

/// What answers the requests of a connection of a provider.
final class APNsConnection: SimulatedConnection {
    private let core: SimulatorCore
    private(set) var state: ConnectionState

    init(_ core: SimulatorCore, _ state: ConnectionState) {
        (self.core, self.state) = (core, state)
        core.state.withLock { $0.statistics.connections += 1 }
    }

    var streams: Int { state.streams }

    func respond(to headers: HPACKHeaders, body: UnsafeRawBufferPointer) -> ServerOutcome {
        let headers = RequestHeaders(headers.lazy.map { ($0.name, $0.value) })
        let now = core.now()
        let outcome = core.state.withLock { $0.respond(to: headers, body: body, on: &state, at: now) }
        let action: ServerOutcome.Action =
            switch outcome.action {
            case .answer(let answer): .answer(ServerAnswer(HPACKHeaders(answer), body: answer.json))
            case .silence: .silence
            case .refuseStream: .refuseStream
            case .goAway(let reason): .goAway(reason.json)
            case .cut: .cut
            }
        return ServerOutcome(action, after: outcome.delay, streams: outcome.streams)
    }

    func isGoingAway() { core.state.withLock { $0.statistics.goAways += 1 } }
}

extension APNsReason {
    /// The debug data of a GOAWAY.
    var json: [UInt8] { JSONValue.object([.init("reason", .string(rawValue))]).json }
}

extension ServerBehaviour {
    init(_ behaviour: ConnectionBehaviour) {
        // In the words of APNs.
        self.init(keptBytes: 5_121, streamsViolated: "Maximum active streams violated")
        (settingsDelay, windowDelay) = (behaviour.settingsDelay, behaviour.windowDelay)
        streamWindow = behaviour.streamWindow
    }
}

extension HPACKHeaders {
    /// The head of an answer. Identifiers are not indexed: none comes twice.
    fileprivate init(_ answer: Answer) {
        self.init()
        reserveCapacity(4)
        add(name: ":status", value: Self.status(answer.status))
        if let id = answer.id { add(name: "apns-id", value: id, indexing: .nonIndexable) }
        if let id = answer.uniqueID { add(name: "apns-unique-id", value: id, indexing: .nonIndexable) }
        if let id = answer.requestID { add(name: "apns-request-id", value: id, indexing: .nonIndexable) }
        if let id = answer.channelID { add(name: "apns-channel-id", value: id, indexing: .nonIndexable) }
        if let seconds = answer.retryAfter { add(name: "retry-after", value: "\(seconds)") }
    }

    private static func status(_ status: Int) -> String { status == 200 ? "200" : "\(status)" }
}
