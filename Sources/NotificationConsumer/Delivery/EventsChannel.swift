/// The default channel: the notification is handed over inside the `delivered` event, for the user's own gateway.
enum EventsChannel {
    /// As `channel` in the event.
    static let name = "events"
}
