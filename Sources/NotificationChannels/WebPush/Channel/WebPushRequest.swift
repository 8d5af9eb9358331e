import NIOCore
import NIOHTTP1
import OutboundHTTP
import ServiceSupport

extension WebPushMessage {
    /// The head of the request (RFC 8030, 5; RFC 8291, 4).
    ///
    /// - Parameters:
    ///   - endpoint: of the subscription.
    ///   - authorization: the value of that field.
    ///   - bytes: of the encrypted body.
    func head(to endpoint: EgressURL, authorization: String, bytes: Int) -> HTTPRequestHead {
        var headers: HTTPHeaders = [
            "host": endpoint.hostHeader,
            "authorization": authorization,
            "content-type": "application/octet-stream",
            "content-encoding": "aes128gcm",
            "content-length": "\(bytes)",
            "ttl": "\(timeToLive)",
            "urgency": urgency.rawValue,
            "user-agent": "Carillon/\(CarillonVersion.current)",
        ]
        if let topic { headers.add(name: "topic", value: topic) }
        return HTTPRequestHead(version: .http1_1, method: .POST, uri: endpoint.target, headers: headers)
    }
}
