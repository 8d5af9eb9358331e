import NotificationModel

/// The type of a value that a rule allows, so that a misspelt key or a number in place of text is found with its line
/// when the rules are read. The model checks ranges and formats of the rendered result.
indirect enum RuleShape: Sendable {
    /// Text: variables are rendered into it, a number as its JSON text.
    case text
    /// Text that the rule does not render: its variables are another's.
    case literal
    /// Text such as `22:00`, which YAML 1.1 reads as a number unless it is in quotes.
    case timeOfDay
    /// A number, a boolean, or one `{{path}}` that keeps its JSON type.
    case number
    case boolean
    case object([String: RuleShape])
    case array(RuleShape)
    /// Text, or an object (`sound`).
    case textOrObject([String: RuleShape])
    /// Any JSON (`userInfo`): one `{{path}}` keeps its JSON type, text with variables is text.
    case any

    static let content: [String: RuleShape] = [
        "title": .text, "subtitle": .text, "body": .text,
        "titleLocalization": localization, "subtitleLocalization": localization, "bodyLocalization": localization,
        "badge": .number, "badgeIncrement": .number, "presentation": .array(.text),
        "sound": .textOrObject(["name": .text, "critical": .boolean, "volume": .number]),
        "categoryIdentifier": .text, "threadIdentifier": .text, "launchImageName": .text,
        "targetContentIdentifier": .text, "interruptionLevel": .text,
        "relevanceScore": .number, "filterCriteria": .text, "mutableContent": .boolean,
        "summaryArgument": .text, "summaryArgumentCount": .number,
        "attachments": .array(.object(["identifier": .text, "url": .text, "options": attachmentOptions])),
        "userInfo": .any, ContentFields.existingPayload: .any,
        "liveActivity": .object([
            "attributesType": .text, "attributes": .any, "contentState": .any, "staleDate": .text,
            "dismissalDate": .text,
            "relevanceScore": .number, "broadcastChannel": .text,
        ]),
    ]

    static let trigger: [String: RuleShape] = [
        "type": .text, "timeInterval": .number, "repeats": .boolean, "misfire": .text, "jitter": .number,
        "dateComponents": .any, "timeZone": .text, "notBefore": .text, "gap": .text, "overlap": .text,
        "missingDay": .text, "region": .object(["latitude": .number, "longitude": .number, "radius": .number]),
        "notifyOnEntry": .boolean, "notifyOnExit": .boolean,
    ]

    /// The members of a request that limit what the recipient gets.
    static let limits: [(field: RequestField, shape: [String: RuleShape])] = [
        (.quietHours, ["start": .timeOfDay, "end": .timeOfDay, "policy": .text, "timeZone": .text]),
        (.cap, ["count": .number, "period": .number]),
        (.digest, ["by": .text, "window": .number, "title": .literal, "body": .literal]),
    ]

    private static let localization = RuleShape.object(["key": .text, "arguments": .array(.text)])

    private static let attachmentOptions = RuleShape.object([
        "typeHint": .text, "thumbnailHidden": .boolean, "thumbnailTime": .number,
        "thumbnailClippingRect": .object(["x": .number, "y": .number, "width": .number, "height": .number]),
    ])
}
