/// Another process uses the same `instance.id`, or took this one for gone: what it was about to write is refused.
public struct InstanceFencedError: Error, CustomStringConvertible {
    /// The setting `instance.id` of this process.
    public var instanceID: String
    /// What the cluster knows it by: a transactional id, or a group's member.
    public var name: String
    /// What was refused.
    public var cause: any Error

    /// Names the instance.
    public init(instanceID: String, name: String, cause: any Error) {
        (self.instanceID, self.name, self.cause) = (instanceID, name, cause)
    }

    /// For an operator, with what to do.
    public var description: String {
        "another process uses instance.id \(instanceID) (\(name) was fenced): give each its own; or this one stood still for "
            + "longer than a transaction may take (\(cause))"
    }
}
