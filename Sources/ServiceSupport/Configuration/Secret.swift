/// Text that must not appear in logs, errors or descriptions.
///
/// It takes a deliberate ``reveal()`` to read it, so that printing a configuration never does.
public struct Secret: Sendable, Hashable {
    private let text: String

    /// Wraps a secret.
    public init(_ text: String) {
        self.text = text
    }

    /// The secret itself, for the call that needs it.
    public func reveal() -> String {
        text
    }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Always `<secret>`.
    public var description: String { "<secret>" }
    /// Always `<secret>`.
    public var debugDescription: String { "<secret>" }
    /// Without children, so that `dump` shows nothing either.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
