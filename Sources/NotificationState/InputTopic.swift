package import NotificationModel

/// A topic whose records the consumer service applies to its state.
///
/// All have the same number of partitions, and the records of one recipient have the same partition number in each: they
/// meet in one partition center.
package enum InputTopic: Int, CaseIterable, Sendable {
    /// Notification requests and removals.
    case requests
    /// Signals of devices. After a request: what is kept per input begins with the one that has the most records.
    case signals
    /// Registrations of devices.
    case devices
    /// Who registered a token last; the partition is that of the token's hash.
    case tokens
}

extension TopicNames {
    /// The name of an input topic.
    package subscript(_ input: InputTopic) -> String {
        switch input {
        case .requests: requests
        case .signals: signals
        case .devices: devices
        case .tokens: tokens
        }
    }
}
