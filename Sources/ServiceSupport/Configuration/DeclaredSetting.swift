/// A settings key as the code declares it.
public struct DeclaredSetting: Sendable, Hashable {
    /// What form a value has.
    public enum Kind: String, Sendable, Hashable {
        case text, integer, boolean, duration, list, map, choice
    }

    /// The key with dots: `http.port`.
    public var key: String
    /// The environment variable: `CARILLON_HTTP_PORT`.
    public var variable: String
    /// The form of the value.
    public var kind: Kind
    /// What is allowed, in words: `an integer from 0 to 65535`.
    public var allowed: String
    /// Its effect, in sentences.
    public var about: String
    /// The default as one would write it; nil when there is none.
    public var defaultValue: String?
    /// Whether the service does not start without it.
    public var isRequired: Bool
}
