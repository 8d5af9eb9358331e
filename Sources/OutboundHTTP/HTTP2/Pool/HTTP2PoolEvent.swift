/// What happens to the connections of a pool, for metrics and logs, and what the server says when it leaves.
package enum HTTP2PoolEvent: Hashable, Sendable {
    /// Why a connection gets no further request.
    package enum Retirement: String, CaseIterable, Sendable {
        /// Its maximum age.
        case age
        /// More connections than the requests need.
        case idle
        /// So many requests in a row without an answer before their deadline, or one for too long.
        case unanswered
        /// No answer to a PING, or no SETTINGS, in time.
        case silent
        /// The server sent a GOAWAY.
        case goAway = "go-away"
        /// It has no stream numbers left.
        case exhausted
        /// The caller asked for it.
        case requested
        /// It was lost, or never came up.
        case lost
        /// The pool shuts down.
        case shutdown
    }

    /// What became of the last words of a server (RFC 9113, 6.8).
    package struct GoAway: Hashable, Sendable {
        /// Streams above it were not processed; their requests are sent again.
        package var lastStream: Int
        /// The code of RFC 9113, section 7; 0 is no error.
        package var code: Int
        /// APNs sends a JSON object with a `reason`. At most 1,024 bytes.
        package var debugData: [UInt8]
    }

    /// A connection to this address begins.
    case opening(HTTP2ConnectionID, IPAddress)
    /// The first SETTINGS have come.
    case ready(HTTP2ConnectionID, IPAddress)
    /// It could not be opened; no address: the host was not resolved, or all its addresses were refused.
    case failed(HTTP2ConnectionID, IPAddress?, OutboundFailure)
    case goAway(HTTP2ConnectionID, GoAway)
    /// It gets no further request, and is closed when the last one has ended.
    case retired(HTTP2ConnectionID, Retirement)
    /// A connection that was ready has closed.
    case closed(HTTP2ConnectionID)
    /// So many requests that the server has not processed are sent again.
    case resent(HTTP2ConnectionID, Int)
}

/// Follows the connections of a pool. Called on the event loop of the pool; it must not block.
package protocol HTTP2PoolObserver: Sendable {
    func note(_ event: HTTP2PoolEvent)
}

/// A pool at one moment, for gauges.
package struct HTTP2PoolUsage: Hashable, Sendable {
    /// Connections that are being opened.
    package var opening = 0
    /// Connections that can get requests.
    package var ready = 0
    /// Connections that get no further request, but have some.
    package var draining = 0
    /// Requests that wait for a stream.
    package var waiting = 0
    /// Requests without an answer yet.
    package var inFlight = 0
    /// The most requests at one time over the connections that are ready.
    package var streams = 0
    /// Connections opened so far.
    package var opened = 0
    /// Requests sent again so far because the server had not processed them.
    package var resent = 0
    /// Requests sent so far whose deadline has passed.
    package var unanswered = 0

    package init() {}
}
