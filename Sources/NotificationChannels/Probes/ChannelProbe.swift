import NIOCore
import OutboundHTTP

/// Something that a channel needs of the network, which can be tried: it sends nothing to a device.
package struct ChannelProbe: Sendable {
    /// What became of a try.
    package enum Outcome: Sendable, Hashable {
        /// In words, with who answered.
        case reached(String)
        /// The other side answered, and does not take the credentials: an operator must act.
        case refused(String)
        /// There was no answer, with the reason.
        case unreachable(String)
    }

    /// What is tried, such as `the servers of APNs, production`.
    package let what: String
    private let attempt: @Sendable (Duration) async -> Outcome

    init(_ what: String, _ attempt: @escaping @Sendable (Duration) async -> Outcome) {
        (self.what, self.attempt) = (what, attempt)
    }

    /// Tries it.
    ///
    /// - Parameter time: How long it may take at most.
    package func outcome(within time: Duration) async -> Outcome { await attempt(time) }
}

/// A channel that depends on servers which are known before the first notification.
package protocol ProbedChannel: Sendable {
    /// What it needs, each once.
    var probes: [ChannelProbe] { get }
}

extension HTTP2Pool {
    /// Opens a connection as a push would, and asks for nothing over it: any answer shows that name, address, TLS and HTTP/2 work.
    func probe(_ origin: EgressURL, within time: Duration) async -> ChannelProbe.Outcome {
        await withCheckedContinuation { continuation in
            let deadline = NIODeadline.now() + TimeAmount(time)
            send(
                HTTP2Request(HTTP2Fields(.pseudo("GET", origin, path: "/")), by: deadline) { result in
                    switch result {
                    case .success: continuation.resume(returning: .reached("\(origin.hostHeader) answers over HTTP/2"))
                    case .failure(let failure): continuation.resume(returning: .unreachable(failure.detail))
                    }
                }
            )
        }
    }
}
