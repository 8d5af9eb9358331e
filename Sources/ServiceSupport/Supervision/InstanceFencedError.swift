/// Another process uses the same `instance.id`, or replaced this one after a timeout: the broker refuses its writes.
public struct InstanceFencedError: Error, CustomStringConvertible {
    /// The setting `instance.id` of this process.
    public var instanceID: String
    /// The id that the cluster fenced: a transactional id, or a group member.
    public var name: String
    /// The broker's error.
    public var cause: any Error

    /// Names the instance.
    public init(instanceID: String, name: String, cause: any Error) {
        (self.instanceID, self.name, self.cause) = (instanceID, name, cause)
    }

    /// For an operator, with the remedy.
    public var description: String {
        "another process uses instance.id \(instanceID) (\(name) was fenced): give each its own; or this one paused "
            + "for longer than the transaction timeout (\(cause))"
    }
}
