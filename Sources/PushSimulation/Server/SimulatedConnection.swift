package import NIOHPACK

/// What answers the requests of a connection. It is used on the connection's event loop only.
package protocol SimulatedConnection: AnyObject {
    /// SETTINGS_MAX_CONCURRENT_STREAMS when it begins.
    var streams: Int { get }

    /// A whole request. Trailers do not count, and of the body what the behaviour keeps is there.
    func respond(to headers: HPACKHeaders, body: UnsafeRawBufferPointer) -> ServerOutcome

    /// GOAWAY is sent.
    func isGoingAway()
}

/// What a request leads to on its connection.
package struct ServerOutcome: Sendable {
    package enum Action: Sendable {
        case answer(ServerAnswer)
        /// It was processed, and is not answered.
        case silence
        case refuseStream
        /// With debug data.
        case goAway([UInt8])
        case cut
    }

    package var action: Action
    /// The time before an answer.
    package var delay: Duration
    /// SETTINGS_MAX_CONCURRENT_STREAMS to announce.
    package var streams: Int?

    package init(_ action: Action, after delay: Duration = .zero, streams: Int? = nil) {
        (self.action, self.delay, self.streams) = (action, delay, streams)
    }
}

/// An answer.
package struct ServerAnswer: Sendable {
    /// With `:status`.
    package var headers: HPACKHeaders
    /// Nil for none.
    package var body: [UInt8]?

    package init(_ headers: HPACKHeaders, body: [UInt8]?) { (self.headers, self.body) = (headers, body) }
}

/// How the connections of a server behave.
package struct ServerBehaviour: Sendable {
    /// The time between the end of the TLS handshake and the first SETTINGS.
    package var settingsDelay = Duration.zero
    /// SETTINGS_INITIAL_WINDOW_SIZE.
    package var streamWindow = 65_535
    /// The time until a window that has been used up is opened again.
    package var windowDelay = Duration.zero
    /// Bytes of a body that are kept: enough to see that it is too large.
    package var keptBytes: Int
    /// Debug data of the GOAWAY for more streams than allowed.
    package var streamsViolated: String

    package init(keptBytes: Int, streamsViolated: String) {
        (self.keptBytes, self.streamsViolated) = (keptBytes, streamsViolated)
    }
}
