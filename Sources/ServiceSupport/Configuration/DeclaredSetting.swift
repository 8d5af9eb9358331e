/// A settings key that the code declares.
public struct DeclaredSetting: Sendable, Hashable {
    /// The form of a value.
    public enum Kind: String, Sendable, Hashable {
        case text, integer, boolean, duration, list, map, choice
    }

    /// The key with dots: `http.port`.
    public var key: String
    /// The environment variable: `CARILLON_HTTP_PORT`.
    public var variable: String
    /// The form of the value.
    public var kind: Kind
    /// The allowed values, in words: `an integer from 0 to 65535`.
    public var allowed: String
    /// Its effect, in sentences.
    public var about: String
    /// The default in its text form; nil if there is none.
    public var defaultValue: String?
    /// Whether the service requires it.
    public var isRequired: Bool
}
