import NotificationModel

/// The service was created with channels other than the configured ones.
struct ChannelMismatch: Error, CustomStringConvertible {
    let wanted: Set<ChannelName>
    let given: Set<ChannelName>

    var description: String {
        "the setting `channels` has \(Self.list(wanted)), but the service was created with \(Self.list(given))"
    }

    private static func list(_ names: Set<ChannelName>) -> String {
        names.isEmpty ? "none that sends" : names.map(\.rawValue).sorted().joined(separator: ", ")
    }
}
