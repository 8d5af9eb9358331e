/// What became of a notification on a device that showed it when it was removed.
public enum RemovalOutcome: String, CaseIterable, Sendable, Hashable {
    /// The provider has removed it.
    case revoked
    /// The app was asked to remove it, which promises nothing.
    case requested
    /// Something that says less was put in its place.
    case overwritten
    /// Nothing removes it.
    case impossible
}
