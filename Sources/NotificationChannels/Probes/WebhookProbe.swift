import NIOCore
import NIOHTTP1
import OutboundHTTP

extension OutboundConnections {
    /// Opens a connection as a request would, and asks what the URL allows: any answer shows that name, address and TLS work.
    func probe(_ endpoint: EgressURL, within time: Duration) async -> ChannelProbe.Outcome {
        let exchange = OutboundExchange(
            OutboundExchange.head(.OPTIONS, endpoint, []),
            to: endpoint,
            at: nil,
            by: .now() + TimeAmount(time),
            isRepeated: false,
            judge: { .end(.success(WebhookStatus($0))) }
        )
        do throws(OutboundFailure) {
            _ = try await exchange.answer(WebhookStatus.self, by: self)
            return .reached("\(endpoint.hostHeader) answers")
        } catch {
            return .unreachable(error.detail)
        }
    }
}
