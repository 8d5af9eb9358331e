package import NIOCore

extension HTTP2Pool {
    /// Bounds and time limits of a pool.
    package struct Settings: Sendable {
        /// The most connections that get requests or are being opened, at least 1. Of those that are drained or replaced there
        /// may be as many again.
        package var connections = 4
        /// So many stay open without requests, at most `connections`.
        package var keptConnections = 1
        /// The most requests of a connection at one time, whatever the server allows; at least 1.
        package var streams = 1000
        /// Requests of one priority that wait; further ones fail with `overloaded`.
        package var waiting = 10_000
        /// The share of a connection's streams that other requests leave to those with priority `high`, 0 to below 1; at least one
        /// stream when the server allows two and the share is not 0.
        package var reservedShare = 0.1

        /// From the look-up of the host to the first SETTINGS of the server.
        package var openTimeout = TimeAmount.seconds(10)
        /// Connections that begin in a second, on average; more than 0.
        package var opensPerSecond = 2.0
        /// Connections that may begin at once; at least 1.
        package var opensAtOnce = 4
        /// The pause after the first failure of an address; twice as long after each further one.
        package var firstBackoff = TimeAmount.seconds(1)
        package var longestBackoff = TimeAmount.seconds(60)

        /// So many requests of a connection in a row without an answer at their deadline retire it; at least 1.
        package var unansweredInARow = 3
        /// A request without an answer for so long retires its connection.
        package var oldestUnanswered = TimeAmount.seconds(10)
        /// A connection that has sent nothing for so long gets a PING.
        package var pingAfter = TimeAmount.minutes(1)
        /// The answer to a PING must come within this time.
        package var pingTimeout = TimeAmount.seconds(10)
        /// How long a connection serves, shortened by up to a fifth at random; then the addresses are judged again.
        package var age = TimeAmount.hours(1)
        /// Connections that were not needed for so long are closed.
        package var idleTimeout = TimeAmount.minutes(10)

        /// The most bytes of an answer's body, up to 65,535; more are `too-large`.
        package var answerBytes = 16 * 1024

        package init() {}
    }
}
