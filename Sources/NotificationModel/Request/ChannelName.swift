/// How notifications leave the consumer service: the values of `channel` in requests, rules and settings.
public enum ChannelName: String, CaseIterable, Hashable, Sendable, Codable {
    /// In the `delivered` event, for a gateway of the user.
    case events
    /// As signed POSTs to one URL.
    case webhook
    /// To nobody, as a channel that sends would: for trying out pipelines and for load tests.
    case test
}
