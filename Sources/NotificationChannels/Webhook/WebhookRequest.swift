import NIOCore
import NIOHTTP1
import NotificationConsumer
import NotificationDelivery
import NotificationModel
import NotificationState
import ServiceHTTP
import ServiceSupport

/// A request of a send.
struct WebhookRequest: Sendable {
    var head: HTTPRequestHead
    var body: ByteBuffer
}

/// Makes the requests of sends: CloudEvents in the binary mode of the HTTP binding, signed.
///
/// The body is the JSON of a `delivered` or `removed` event, and the event's id identifies the send: it is derived from
/// the request, the occurrence and the type, so every attempt has the same one.
struct WebhookRequests: Sendable {
    let endpoint: WebhookEndpoint
    private let channel: String
    private let source: String
    private let signer: RequestSigner

    init(
        url: String,
        channel: String,
        source: String,
        signer: RequestSigner
    ) throws(WebhookSettingsError) {
        guard let endpoint = WebhookEndpoint(url: url) else {
            throw WebhookSettingsError(.url, "is not a URL to which a request can be sent")
        }
        self.endpoint = endpoint
        (self.channel, self.source, self.signer) = (channel, Self.attribute(source), signer)
    }

    func request(for send: Issued<ChannelSend>, at now: Timestamp) -> WebhookRequest {
        let event = event(of: send)
        let id = send.id.description
        let seconds = "\(now.rawValue / 1000)"
        var signed = Array("\(id).\(seconds).".utf8)
        let head = signed.count
        event.write(to: &signed)

        var headers: HTTPHeaders = [
            "host": endpoint.hostHeader,
            "content-type": "application/json",
            "content-length": "\(signed.count - head)",
            "user-agent": Self.agent,
            "ce-specversion": "1.0",
            "ce-id": id,
            "ce-source": source,
            "ce-type": "\(event.name.type)",
            "ce-time": now.rfc3339,
            "ce-subject": Self.attribute(String(decoding: event.key.encoded, as: UTF8.self)),
            "idempotency-key": id,
            "webhook-id": id,
            "webhook-timestamp": seconds,
            "webhook-signature": signer.signatures(of: signed),
        ]
        if let traceparent = send.trace.traceparent {
            headers.add(name: "traceparent", value: String(decoding: traceparent, as: UTF8.self))
        }
        if let tracestate = send.trace.tracestate {
            headers.add(name: "tracestate", value: String(decoding: tracestate, as: UTF8.self))
        }
        return WebhookRequest(
            head: HTTPRequestHead(version: .http1_1, method: .POST, uri: endpoint.target, headers: headers),
            body: ByteBuffer(bytes: signed[head...])
        )
    }

    /// The event that the receiver gets.
    func event(of send: Issued<ChannelSend>) -> DeliveryEvent {
        var event = DeliveryEvent(
            name: .delivered,
            requestID: send.requestID,
            key: send.key,
            closes: send.closes,
            inDoubt: send.isInDoubt
        )
        event.occurrence = send.occurrence
        event.channel = channel
        event.devices = send.devices
        event.by = send.cause
        switch send.kind {
        case .deliver(let content):
            event.content = content
            event.actions = send.actions
            event.expiration = send.expiration
        case .remove: event.name = .removed
        }
        return event
    }

    private static let agent = "Carillon/\(CarillonVersion.current)"

    /// An attribute's value as the HTTP binding of CloudEvents writes it: blanks, quotes, percent signs and everything
    /// outside printable ASCII are percent-encoded.
    static func attribute(_ text: String) -> String {
        guard !text.utf8.allSatisfy(isPlain) else { return text }
        var out = ""
        for byte in text.utf8 {
            if isPlain(byte) {
                out.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                out += digits.count == 1 ? "%0\(digits)" : "%\(digits)"
            }
        }
        return out
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "%")
    }
}
