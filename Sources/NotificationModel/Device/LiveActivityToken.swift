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
}

extension DeviceRegistration {
    /// What of a registration says that, as it was read.
    struct LiveActivityMembers {
        var attributesType: String?
        var activity: String?
        var pushToStart: String?

        /// Throws `invalid` at the member that is missing, or of another kind of token.
        func token(of kind: TokenKind) throws(ModelError) -> LiveActivityToken? {
            if let attributesType {
                guard kind == .liveActivityStart else { throw Self.misplaced("attributesType", .liveActivityStart) }
                guard activity == nil else { throw Self.misplaced("activity", .liveActivity) }
                guard pushToStart == nil else { throw Self.misplaced("pushToStart", .liveActivity) }
                return .start(attributesType: attributesType)
            }
            guard kind != .liveActivityStart else {
                throw ModelError(.invalid, field: "attributesType", "is missing: the type that the token starts")
            }
            if let activity {
                guard kind == .liveActivity else { throw Self.misplaced("activity", .liveActivity) }
                return .activity(identifier: activity, pushToStart: pushToStart)
            }
            guard pushToStart == nil else {
                throw ModelError(.invalid, field: "activity", "is missing: the identifier of the activity")
            }
            return nil
        }

        private static func misplaced(_ field: String, _ kind: TokenKind) -> ModelError {
            ModelError(.invalid, field: field, "is of a registration of the kind \(kind.rawValue)")
        }
    }
}
