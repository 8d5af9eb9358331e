import NotificationModel

/// The member `carillon` of a payload: what Carillon says to the app. Members that concern nothing here are ignored.
struct CarillonMember: Sendable, Hashable {
    /// The place of a notification among the operations of its key: later ones are greater, byte by byte.
    var sequence: String?
    /// In a background push: what to remove, by `apns-collapse-id`, each with the sequence of the removal.
    var removals: [String: String] = [:]

    /// Nil for what is no object.
    init?(_ value: JSONValue) {
        guard value.objectValue != nil else { return nil }
        sequence = value["sequence"]?.stringValue
        for member in value["remove"]?.objectValue ?? [] { removals[member.name] = member.value.stringValue }
    }
}
