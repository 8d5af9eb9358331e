import NotificationDelivery
import NotificationModel
import NotificationState

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
    indirect case send(ChannelSend)
    /// Start an enrichment, whose result is applied later.
    case enrich(EnrichmentWork)
    /// Nobody waits for the enrichment of this request any more.
    case stopEnrichment(RequestID, NotificationKey)
    /// A trigger has fired: of a traced request.
    indirect case fire(Firing)
    /// The record answers what a span has delivered.
    case answer(SpanContext)
    /// Cancel an attempt that is still queued; an attempt that has started continues.
    case withdraw(UUIDValue, NotificationKey)
}

/// The span of a trigger that fires.
struct Firing: Sendable {
    var span: SpanContext
    /// That of the request: its parent or, after a long wait, a link to another trace.
    var request: SpanContext
    /// When it was due.
    var due: Timestamp
}
