import NotificationModel

/// What a turn asks the lane to do, in this order.
enum Effect: Sendable {
    /// Publish an event that continues a trace.
    case publish(DeliveryEvent, CarriedTrace)
    /// Begin one attempt of a channel.
    case send(SendAttempt)
    /// Do not begin an attempt that waits for its turn; one that has begun goes on.
    case withdraw(SendID, NotificationKey)
}

/// One attempt at a notification or a recall, as the lifecycle sees it.
struct SendAttempt: Hashable, Sendable {
    var id: SendID
    var key: NotificationKey
    var kind: ChannelSend.Kind
    /// From 1.
    var number: Int
}
