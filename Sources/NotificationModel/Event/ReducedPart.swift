/// A part of a content of which a device got less, because all of it was too large for its platform.
public enum ReducedPart: String, CaseIterable, Sendable, Hashable {
    /// Its end was cut off.
    case body
    /// They were left out.
    case attachments
}
