/// The default channel: the `delivered` event hands the notification over, for the user's own gateway.
enum EventsChannel {
    /// The value of `channel` in the event.
    static let name = "events"
}

/// The service was created with a channel other than the configured one.
struct ChannelMismatch: Error, CustomStringConvertible {
    let wanted: String
    let given: String

    var description: String { "the setting `channel` is \(wanted), but the service was created with \(given)" }
}
