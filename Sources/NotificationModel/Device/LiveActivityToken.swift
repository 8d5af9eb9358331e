/// Which Live Activities a token is for. Indirect, since few registrations are of one.
public indirect enum LiveActivityToken: Sendable, Hashable {
    /// It starts activities: of the kind ``TokenKind/liveActivityStart``.
    ///
    /// - Parameter attributesType: the name of the app's `ActivityAttributes`, 1 to 256 bytes.
    case start(attributesType: String)
    /// It updates and ends one activity: of the kind ``TokenKind/liveActivity``.
    ///
    /// - Parameters:
    ///   - identifier: of the notification that the activity shows.
    ///   - pushToStart: the name under which the same phone has registered its token to start activities of the type; both are one
    ///     device for the notification. Nil for an app that starts them itself.
    case activity(identifier: String, pushToStart: String?)

    /// What the members of a registration say; nil for a token that is for no activity, or for one that nobody names.
    ///
    /// Throws `invalid` at the member that is missing, or belongs to another kind of token.
    public init?(
        _ kind: TokenKind,
        attributesType: String?,
        activity: String?,
        pushToStart: String?
    ) throws(ModelError) {
        func refuse(_ field: String, _ value: String?, unless required: TokenKind) throws(ModelError) {
            guard value != nil, kind != required else { return }
            throw ModelError(.invalid, field: field, "is of a registration of the kind \(required.rawValue)")
        }
        try refuse("attributesType", attributesType, unless: .liveActivityStart)
        try refuse("activity", activity, unless: .liveActivity)
        try refuse("pushToStart", pushToStart, unless: .liveActivity)
        switch (kind, attributesType, activity) {
        case (.liveActivityStart, let type?, _): self = .start(attributesType: type)
        case (.liveActivityStart, nil, _):
            throw ModelError(.invalid, field: "attributesType", "is missing: the type that the token starts")
        case (_, _, let activity?): self = .activity(identifier: activity, pushToStart: pushToStart)
        default:
            guard pushToStart == nil else {
                throw ModelError(.invalid, field: "activity", "is missing: the identifier of the activity")
            }
            return nil
        }
    }
}
