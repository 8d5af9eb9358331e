/// The settings of a service: its own, and those that both services have, which are read as if they were its own.
///
/// They are declared here and not by the services, which do not link each other: one settings file, or one set of variables,
/// serves both, so each must know what the other reads (``SettingsCatalogue``).
@dynamicMemberLookup
public protocol ServiceConfiguration: Sendable {
    /// Those that both services have.
    var shared: SharedConfiguration { get set }

    /// Reads the settings. What is wrong is noted in them: use the result only after `settings.finish()`.
    init(settings: inout ServiceSettings)
}

extension ServiceConfiguration {
    /// One of those that both services have.
    @inlinable
    public subscript<Value>(dynamicMember member: KeyPath<SharedConfiguration, Value>) -> Value {
        shared[keyPath: member]
    }

    /// The same, to change it.
    @inlinable
    public subscript<Value>(dynamicMember member: WritableKeyPath<SharedConfiguration, Value>) -> Value {
        get { shared[keyPath: member] }
        set { shared[keyPath: member] = newValue }
    }
}
