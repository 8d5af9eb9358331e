package import NotificationModel

/// What a payload lacks of what was asked for; the texts are for events and people.
package enum PayloadChange: Hashable, Sendable, CustomStringConvertible {
    /// The end of the body was cut off.
    case bodyShortened
    /// Attachments were left out.
    case mediaDropped
    /// A member of the content, by its path: the payload needs its name for itself, or has no place for it.
    case memberLeftOut(String)

    /// For metrics: without the name.
    var kind: String {
        switch self {
        case .bodyShortened: "body-shortened"
        case .mediaDropped: "media-dropped"
        case .memberLeftOut: "member-left-out"
        }
    }

    /// Every ``kind``.
    static let kinds = ["body-shortened", "media-dropped", "member-left-out"]

    /// Nil for what has nothing to do with the size.
    package var reducedPart: ReducedPart? {
        switch self {
        case .bodyShortened: .body
        case .mediaDropped: .attachments
        case .memberLeftOut: nil
        }
    }

    package var description: String {
        switch self {
        case .bodyShortened, .mediaDropped: kind
        case .memberLeftOut(let name): "\(name)-left-out"
        }
    }
}
