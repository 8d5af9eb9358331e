/// The settings of a service: its own, and those of both services, which are read as if they were its own.
@dynamicMemberLookup
public protocol ServiceConfiguration: Sendable {
    /// The settings of both services.
    var shared: SharedConfiguration { get set }

    /// Reads the settings. Problems are recorded in `settings`: use the result only after `settings.finish()`.
    init(settings: inout ServiceSettings)
}

extension ServiceConfiguration {
    /// A setting of both services.
    @inlinable
    public subscript<Value>(dynamicMember member: KeyPath<SharedConfiguration, Value>) -> Value {
        shared[keyPath: member]
    }

    /// The same, mutable.
    @inlinable
    public subscript<Value>(dynamicMember member: WritableKeyPath<SharedConfiguration, Value>) -> Value {
        get { shared[keyPath: member] }
        set { shared[keyPath: member] = newValue }
    }
}
