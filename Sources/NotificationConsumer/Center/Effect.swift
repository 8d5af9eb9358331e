import NotificationModel

/// An action that a turn requests from the lane. The lane executes effects in order.
enum Effect: Sendable {
    /// Publish an event that continues the trace.
    case publish(DeliveryEvent, CarriedTrace)
    /// Publish what a person did with a notification.
    case respond(ResponseEvent, CarriedTrace)
    /// Publish what happened to a device.
    case announce(DeviceEvent, CarriedTrace)
    /// Tell the owner of a token's partition who has registered it, or has it no more.
    case claim(TokenClaim, token: String, CarriedTrace)
    /// Send a signal about another recipient to that recipient's partition.
    case signal(Signal, recipient: String, CarriedTrace)
    /// Start one attempt on the channel.
    case send(SendAttempt)
    /// Start an enrichment, whose result is applied later.
    case enrich(EnrichmentRequest)
    /// Nobody waits for the enrichment of this request any more.
    case stopEnrichment(RequestID, NotificationKey)
    /// Cancel an attempt that is still queued; an attempt that has started continues.
    case withdraw(SendID, NotificationKey)
}

/// One attempt to send a notification or a recall.
struct SendAttempt: Hashable, Sendable {
    var channel: ChannelName
    var id: SendID
    var key: NotificationKey
    var kind: ChannelSend.Kind
    /// From 1.
    var number: Int
    /// The trace of the request record.
    var trace: CarriedTrace
    /// Whether the request closes with this send.
    var closes: Bool
    /// A previous owner of the partition may have sent it.
    var isInDoubt: Bool
    /// After this instant the attempt must not begin.
    var expiration: Timestamp?
    /// The devices that it is for; nil when none is known.
    var addressees: StateEntry.Sending.Addressees?
}
