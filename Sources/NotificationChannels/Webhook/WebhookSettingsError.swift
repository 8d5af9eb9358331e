/// An invalid setting of the channel `webhook`, found at the start.
struct WebhookSettingsError: Error, Hashable, CustomStringConvertible {
    enum Key: String {
        case url = "webhook.url"
        case keysFile = "webhook.keys.file"
    }

    let key: Key
    /// Never contains a key or a URL.
    let message: String

    init(_ key: Key, _ message: String) { (self.key, self.message) = (key, message) }

    var description: String { "\(key.rawValue): \(message)" }
}
