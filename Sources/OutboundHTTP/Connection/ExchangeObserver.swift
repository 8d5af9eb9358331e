package import NIOHTTP1

/// What a request does at the moment, for the details of time limits.
package enum OutboundPhase: String, Sendable {
    case resolving = "resolving the host"
    case waiting = "waiting for a connection"
    case connecting
    case handshake = "in the TLS handshake"
    case head = "waiting for the head of the answer"
    case body = "reading the body"
    case storing
}

/// Follows a request. Called from any thread; it must not block.
package protocol ExchangeObserver: Sendable {
    /// The request is in this phase from now on.
    func enter(_ phase: OutboundPhase)
    /// The host has these addresses; with a refusal the request ends.
    func resolved(_ addresses: [IPAddress], refusal: EgressRefusal?)
    /// The request goes over a connection to this address.
    func connected(to address: IPAddress, isReused: Bool)
    /// The TLS handshake has ended, and the certificate is valid for the host.
    func secured()
    /// The head of an answer.
    func answered(_ head: HTTPResponseHead)
}
