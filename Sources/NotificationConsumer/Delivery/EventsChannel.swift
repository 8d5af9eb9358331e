/// The default channel: the notification is handed over inside the `delivered` event, for the user's own gateway.
enum EventsChannel {
    /// As `channel` in the event.
    static let name = "events"
}

/// The service was made with another channel than its settings name.
struct ChannelMismatch: Error, CustomStringConvertible {
    let wanted: String
    let given: String

    var description: String { "the setting `channel` is \(wanted), and the service was made with \(given)" }
}
