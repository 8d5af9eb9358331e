import NIOCore
import NIOHTTP1
import NotificationDelivery
import NotificationModel
import OutboundHTTP
import ServiceSupport

extension WebPushMessage {
    /// The message of a send.
    ///
    /// Throws as ``init(_:of:actions:at:)``, and `invalid` for a list that has no device.
    ///
    /// - Parameters:
    ///   - application: of the notification.
    ///   - now: what the life of the message is counted from.
    init(_ send: ChannelSend, of application: WebPushApplication, at now: Timestamp) throws(ModelError) {
        guard case .deliver(let content) = send.kind else {
            self = .removal(of: send.key, sequence: send.sequence)
            return
        }
        let device = try send.devices.map(PresentedDevice.init(list:)) ?? PresentedDevice(name: "")
        try self.init(
            DeviceDelivery(send, content: content, to: device),
            of: application,
            actions: send.actions,
            at: now
        )
    }

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
