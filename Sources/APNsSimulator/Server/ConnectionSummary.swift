public import NotificationModel
import PushSimulation

/// A connection of a client.
public struct ConnectionSummary: Sendable, Hashable {
    /// Counted from 1, over all connections.
    public let number: Int
    /// That of the port.
    public let environment: DeviceRegistration.Environment
    /// The team of its provider tokens; nil before one was accepted.
    public let team: String?
    /// Requests that were processed.
    public let requests: Int
    /// The announced number of concurrent streams.
    public let streams: Int
    /// Requests that have not arrived completely.
    public let waiting: Int
    /// Whether it answers nothing any more.
    public let isSilent: Bool
    /// Whether it reads and writes nothing.
    public let isFrozen: Bool
}

extension ConnectionSummary {
    init(_ state: ConnectionState, _ handler: HTTP2ServerHandler) {
        self.init(
            number: state.number,
            environment: state.environment,
            team: state.credentials.team,
            requests: handler.requests,
            streams: state.streams,
            waiting: handler.waiting,
            isSilent: state.isSilent,
            isFrozen: handler.isFrozen
        )
    }
}
