import Logging

/// Hands each message from `warning` on to a function.
struct EventHandler: LogHandler {
    let take: @Sendable (LogEvent) -> Void
    var logLevel = Logger.Level.warning
    var metadata: Logger.Metadata = [:]

    init(_ take: @escaping @Sendable (LogEvent) -> Void) { self.take = take }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { take(event) }
}
