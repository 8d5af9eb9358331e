import NIOCore
import NIOHTTP1
import NotificationDelivery
import NotificationModel
import OutboundHTTP
import ServiceSupport

/// A request of a send.
struct WebhookRequest: Sendable {
    var head: HTTPRequestHead
    var body: ByteBuffer
}

/// Makes the requests of sends: CloudEvents in the structured mode of the HTTP binding, signed whole.
///
/// All that a receiver acts on is in the body, and so under the signature. Its `data` is a `delivered` or `removed` event;
/// its `id` is that of the operation, equal for each of its attempts.
struct WebhookRequests: Sendable {
    private let endpoint: EgressURL
    private let channel: String
    private let source: String
    private let signer: RequestSigner

    init(to endpoint: EgressURL, channel: String, source: String, signer: RequestSigner) {
        (self.endpoint, self.channel, self.source, self.signer) = (endpoint, channel, source, signer)
    }

    func request(for send: ChannelSend, at now: Timestamp) -> WebhookRequest {
        let id = send.id.description
        let seconds = "\(now.rawValue / 1000)"
        var signed = Array("\(id).\(seconds).".utf8)
        let head = signed.count
        // Most events fit: it grows once instead of many times.
        signed.reserveCapacity(2_048)
        write(send, id: id, to: &signed)

        var headers: HTTPHeaders = [
            "host": endpoint.hostHeader,
            "content-type": Self.contentType,
            "content-length": "\(signed.count - head)",
            "user-agent": Self.agent,
            "webhook-id": id,
            "webhook-timestamp": seconds,
            "webhook-signature": signer.signatures(of: signed),
        ]
        // The header names the attempt; the event is the same in each of them, and names what caused the operation.
        if let traceparent = send.trace.traceparent {
            let own = send.span?.traceparent ?? String(decoding: traceparent, as: UTF8.self)
            headers.add(name: "traceparent", value: own)
        }
        if let tracestate = send.trace.tracestate {
            headers.add(name: "tracestate", value: String(decoding: tracestate, as: UTF8.self))
        }
        return WebhookRequest(
            head: HTTPRequestHead(version: .http1_1, method: .POST, uri: endpoint.target, headers: headers),
            body: ByteBuffer(bytes: signed[head...])
        )
    }

    /// Appends the CloudEvent.
    private func write(_ send: ChannelSend, id: String, to out: inout [UInt8]) {
        let event = event(of: send)
        var object = JSONObjectWriter()
        object.member("specversion", "1.0", &out)
        object.member("id", id, &out)
        object.member("source", source, &out)
        object.member("type", event.name.type, &out)
        object.member("subject", String(decoding: event.key.encoded, as: UTF8.self), &out)
        object.member("time", send.sequence.time, &out)
        object.member("sequence", send.sequence, &out)
        object.member("traceparent", send.trace.traceparent.map { String(decoding: $0, as: UTF8.self) }, &out)
        object.member("tracestate", send.trace.tracestate.map { String(decoding: $0, as: UTF8.self) }, &out)
        object.member("datacontenttype", "application/json", &out)
        object.begin("data", &out)
        event.write(to: &out)
        object.end(&out)
    }

    /// The event that the receiver gets.
    func event(of send: ChannelSend) -> DeliveryEvent {
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

    /// The media type of the body.
    static let contentType = "application/cloudevents+json"
    private static let agent = "Carillon/\(CarillonVersion.current)"
}
